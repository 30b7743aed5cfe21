// A client that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
// `wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md.
import java.util.LinkedHashMap;
import java.util.Map;
import kit.Kit;

public final class Testee {

  /**
   * Make a client of the application app of the document idl, and connect it to address.
   */
  static Object doConnect(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("connect");
  }

  /**
   * Call fn of the version in scope with args; answer its result, or the exception that was caught.
   */
  static Object doCall(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("call");
  }

  /**
   * Close the connection.
   */
  static Object doDisconnect(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("disconnect");
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Kit.Op> ops = new LinkedHashMap<>();
    ops.put("connect", Testee::doConnect);
    ops.put("call", Testee::doCall);
    ops.put("disconnect", Testee::doDisconnect);
    Kit.serve(ops);
  }
}
