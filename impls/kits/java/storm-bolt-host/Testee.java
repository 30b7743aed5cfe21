// A host of Storm bolts, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Tell the events emit, ack, fail, log, error, failed and exited when they reach the collector of the
// host.
import java.util.LinkedHashMap;
import java.util.Map;
import kit.Kit;

public final class Testee {

  /**
   * Have the library run child (its arguments, with env beside the environment) with conf and context.
   */
  static Object doStart(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("start");
  }

  /**
   * Hand it the tuple id with comp, stream, task and tuple.
   */
  static Object doTuple(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("tuple");
  }

  /**
   * Set what the emits that follow get: ids.
   */
  static Object doTaskIds(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("task_ids");
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Kit.Op> ops = new LinkedHashMap<>();
    ops.put("start", Testee::doStart);
    ops.put("tuple", Testee::doTuple);
    ops.put("task_ids", Testee::doTaskIds);
    Kit.serve(ops, "task_ids");
  }
}
