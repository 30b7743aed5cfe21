// A host of KCL record processors, told what to do. Write what is still to be written; `wireproof check` says what
// is missing. Tell the event checkpoint with `at` when a checkpoint reaches the checkpointer, and failed with `why`
// when a callback ends otherwise.
import java.util.LinkedHashMap;
import java.util.Map;
import kit.Kit;

public final class Testee {

  /**
   * Have the library run child (its arguments, with env beside the environment) for the shard shardId.
   */
  static Object doStart(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("start");
  }

  /**
   * Have it initialize the child for shardId; answer when that callback is over, as for each of these.
   */
  static Object doInitialize(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("initialize");
  }

  /**
   * Hand it records, each with data_hex, partitionKey and sequenceNumber.
   */
  static Object doProcessRecords(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("processRecords");
  }

  /**
   * Have it end the child for reason. In newer releases: the three that follow, and this one is unsupported.
   */
  static Object doShutdown(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("shutdown");
  }

  /**
   * Tell it that the lease is lost.
   */
  static Object doLeaseLost(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("leaseLost");
  }

  /**
   * Tell it that the shard has ended.
   */
  static Object doShardEnded(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("shardEnded");
  }

  /**
   * Tell it that a shutdown is requested.
   */
  static Object doShutdownRequested(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("shutdownRequested");
  }

  /**
   * Set what the next checkpoints meet: the name of an error, or null.
   */
  static Object doCheckpointer(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("checkpointer");
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Kit.Op> ops = new LinkedHashMap<>();
    ops.put("start", Testee::doStart);
    ops.put("initialize", Testee::doInitialize);
    ops.put("processRecords", Testee::doProcessRecords);
    ops.put("shutdown", Testee::doShutdown);
    ops.put("leaseLost", Testee::doLeaseLost);
    ops.put("shardEnded", Testee::doShardEnded);
    ops.put("shutdownRequested", Testee::doShutdownRequested);
    ops.put("checkpointer", Testee::doCheckpointer);
    Kit.serve(ops, "checkpointer");
  }
}
