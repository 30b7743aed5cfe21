// A server that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
// `wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md.
import java.util.LinkedHashMap;
import java.util.Map;
import kit.Kit;

public final class Testee {

  /**
   * Serve the application of the document idl with the behaviour of its slots; answer the port on 127.0.0.1.
   */
  static Object doServe(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("serve");
  }

  /**
   * Give the slot another behaviour while it serves.
   */
  static Object doAssign(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("assign");
  }

  /**
   * Stop serving.
   */
  static Object doStop(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("stop");
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Kit.Op> ops = new LinkedHashMap<>();
    ops.put("serve", Testee::doServe);
    ops.put("assign", Testee::doAssign);
    ops.put("stop", Testee::doStop);
    Kit.serve(ops);
  }
}
