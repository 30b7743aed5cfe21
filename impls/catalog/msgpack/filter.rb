# The gem msgpack as a filter: one line of hex in, the hex of what was decoded and encoded again out, or ERR and why.
require "msgpack"
require_relative "../../kits/ruby/kit"
factory = MessagePack::Factory.new
factory.register_type(-1, MessagePack::Timestamp,
                      packer: MessagePack::Timestamp.method(:to_msgpack_ext),
                      unpacker: MessagePack::Timestamp.method(:from_msgpack_ext))
Kit.serve_filter do |octets|
  unpacker = factory.unpacker(allow_unknown_ext: true)
  unpacker.feed(octets)
  factory.packer.write(unpacker.full_unpack).to_s
end
