# The gem msgpack as a filter: one line of hex in, the hex of what was decoded and encoded again out, or ERR and why.
require "msgpack"
$stdout.sync = true
factory = MessagePack::Factory.new
factory.register_type(-1, MessagePack::Timestamp,
                      packer: MessagePack::Timestamp.method(:to_msgpack_ext),
                      unpacker: MessagePack::Timestamp.method(:from_msgpack_ext))
while (line = $stdin.gets)
  begin
    unpacker = factory.unpacker(allow_unknown_ext: true)
    unpacker.feed([line.strip].pack("H*"))
    puts factory.packer.write(unpacker.full_unpack).to_s.unpack1("H*")
  rescue StandardError, SystemStackError => wrong
    puts "ERR #{wrong.class} #{wrong.message}".tr("\n", " ")
  end
end
