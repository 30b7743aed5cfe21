import kit.Kit;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ImmutableValue;

/** msgpack-core as a filter: one line of hex in, the hex of what was decoded and encoded again out, or ERR and why. */
public final class Filter {
    private static byte[] again(byte[] octets) throws Exception {
        try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(octets);
                MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
            ImmutableValue value = unpacker.unpackValue();
            if (unpacker.hasNext()) {
                throw new IllegalArgumentException("octets are left");
            }
            packer.packValue(value);
            return packer.toByteArray();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Kit.serveFilter(Filter::again);
    }
}
