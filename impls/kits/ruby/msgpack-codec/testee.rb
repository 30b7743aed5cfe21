# A MessagePack codec, told what to do. Write what is still to be written; `wireproof check` says what is missing.
# It is a filter: lines of hex in, lines of hex out.
require_relative 'kit'

# Decode octets that are one value, encode it again, and give the octets; raise for what is refused.
Kit.serve_filter do |octets|
  raise Kit::Todo, 'again'
end
