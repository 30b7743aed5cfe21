// A host of Storm spouts, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Tell the events emit, log, sync, error, failed and exited when they reach the collector of the host.
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
   * Ask it for the next tuple.
   */
  static Object doNext(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("next");
  }

  /**
   * Tell it that the emit id was acked.
   */
  static Object doAck(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("ack");
  }

  /**
   * Tell it that the emit id has failed.
   */
  static Object doFail(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("fail");
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
    ops.put("next", Testee::doNext);
    ops.put("ack", Testee::doAck);
    ops.put("fail", Testee::doFail);
    ops.put("task_ids", Testee::doTaskIds);
    Kit.serve(ops, "task_ids");
  }
}
