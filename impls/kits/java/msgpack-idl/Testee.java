// A processor of the MessagePack IDL, told what to do. Write what is still to be written; `wireproof check` says
// what is missing. The tree and the errors are written as docs/testees.md says.
import java.util.LinkedHashMap;
import java.util.Map;
import kit.Kit;

public final class Testee {

  /**
   * Parse the document source in the profile; answer its tree as ast, or errors with kind, code, line, col and
   * message.
   */
  static Object doParse(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("parse");
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Kit.Op> ops = new LinkedHashMap<>();
    ops.put("parse", Testee::doParse);
    Kit.serve(ops);
  }
}
