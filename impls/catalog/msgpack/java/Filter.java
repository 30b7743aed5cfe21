import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ImmutableValue;

/** msgpack-core as a filter: one line of hex in, the hex of what was decoded and encoded again out, or ERR and why. */
public final class Filter {
    private static String again(String line) throws Exception {
        try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(HexFormat.of().parseHex(line));
                MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
            ImmutableValue value = unpacker.unpackValue();
            if (unpacker.hasNext()) {
                return "ERR octets are left";
            }
            packer.packValue(value);
            return HexFormat.of().formatHex(packer.toByteArray());
        }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 20);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer;
            try {
                answer = again(line.strip());
            } catch (Exception | StackOverflowError | OutOfMemoryError wrong) {
                answer = "ERR " + String.valueOf(wrong).replace('\n', ' ');
            }
            System.out.println(answer);
        }
    }
}
