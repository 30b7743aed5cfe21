// A MessagePack codec, told what to do. Write what is still to be written; `wireproof check` says what is missing.
// It is a filter: lines of hex in, lines of hex out.
import kit.Kit;

public final class Testee {
  /** Decode octets that are one value, encode it again, and give the octets; throw for what is refused. */
  static byte[] again(byte[] octets) {
    throw new Kit.Todo("again");
  }

  public static void main(String[] arguments) throws Exception {
    Kit.serveFilter(Testee::again);
  }
}
