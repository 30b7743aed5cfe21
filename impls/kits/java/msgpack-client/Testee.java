// A MessagePack-RPC client library, told what to do. Write what is still to be written; `wireproof check` says what
// is missing. Params and results travel as MessagePack in hex.
import java.util.LinkedHashMap;
import java.util.Map;
import kit.Kit;

public final class Testee {

  /**
   * Open a connection to address (HOST:PORT).
   */
  static Object doConnect(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("connect");
  }

  /**
   * Call method with the array params_hex; answer result_hex, or error_hex when the call has failed.
   */
  static Object doCall(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("call");
  }

  /**
   * The same without waiting; answer a handle. Leave it unsupported where the library cannot.
   */
  static Object doCallAsync(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("call_async");
  }

  /**
   * Wait for the call that has this handle; answer as call does.
   */
  static Object doAwait(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("await");
  }

  /**
   * Send the notification method with params_hex.
   */
  static Object doNotify(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("notify");
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
    ops.put("call_async", Testee::doCallAsync);
    ops.put("await", Testee::doAwait);
    ops.put("notify", Testee::doNotify);
    ops.put("disconnect", Testee::doDisconnect);
    Kit.serve(ops);
  }
}
