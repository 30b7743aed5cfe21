# A processor of the MessagePack IDL, told what to do. Write what is still to be written; `wireproof check` says
# what is missing. The tree and the errors are written as docs/testees.md says.
require_relative 'kit'

ops = {}

# Parse the document source in the profile; answer its tree as ast, or errors with kind, code, line, col and
# message.
ops['parse'] = lambda do |given|
  raise Kit::Todo, 'parse'
end

Kit.serve(ops)
