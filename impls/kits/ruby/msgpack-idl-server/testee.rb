# A server that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
# `wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md.
require_relative 'kit'

ops = {}

# Serve the application of the document idl with the behaviour of its slots; answer the port on 127.0.0.1.
ops['serve'] = lambda do |given|
  raise Kit::Todo, 'serve'
end

# Give the slot another behaviour while it serves.
ops['assign'] = lambda do |given|
  raise Kit::Todo, 'assign'
end

# Stop serving.
ops['stop'] = lambda do |given|
  raise Kit::Todo, 'stop'
end

Kit.serve(ops)
