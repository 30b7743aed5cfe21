# A client that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
# `wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md.
require_relative 'kit'

ops = {}

# Make a client of the application app of the document idl, and connect it to address.
ops['connect'] = lambda do |given|
  raise Kit::Todo, 'connect'
end

# Call fn of the version in scope with args; answer its result, or the exception that was caught.
ops['call'] = lambda do |given|
  raise Kit::Todo, 'call'
end

# Close the connection.
ops['disconnect'] = lambda do |given|
  raise Kit::Todo, 'disconnect'
end

Kit.serve(ops)
