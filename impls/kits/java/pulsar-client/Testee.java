// A Pulsar client library, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Keep producers, consumers and messages as handles of the kit: what is answered stands for them in later
// ops.
import java.util.LinkedHashMap;
import java.util.Map;
import kit.Kit;

public final class Testee {

  /**
   * Make a client for url; with the credentials auth_method and auth_data where they are given.
   */
  static Object doConnect(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("connect");
  }

  /**
   * Make a producer for topic, called name if there is one; answer a handle.
   */
  static Object doProducer(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("producer");
  }

  /**
   * Send payload_hex with key and properties by producer; answer the id of the message, as a text.
   */
  static Object doSend(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("send");
  }

  /**
   * The same without waiting; answer a handle. Leave it unsupported where the library cannot.
   */
  static Object doSendAsync(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("send_async");
  }

  /**
   * Wait for what send_async gave this handle; answer the id of the message.
   */
  static Object doAwait(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("await");
  }

  /**
   * Subscribe to topic as subscription, of the type Exclusive, Shared or Failover, with permits; answer a handle.
   */
  static Object doSubscribe(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("subscribe");
  }

  /**
   * Wait timeout_ms for a message of consumer: ref, payload_hex, key and properties; or null when none came.
   */
  static Object doReceive(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("receive");
  }

  /**
   * Acknowledge the message ref of consumer; with cumulative, all up to it.
   */
  static Object doAck(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("ack");
  }

  /**
   * Have consumer ask for what is not acknowledged.
   */
  static Object doRedeliver(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("redeliver");
  }

  /**
   * Close producer, or consumer.
   */
  static Object doClose(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("close");
  }

  /**
   * Close the client.
   */
  static Object doDisconnect(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("disconnect");
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Kit.Op> ops = new LinkedHashMap<>();
    ops.put("connect", Testee::doConnect);
    ops.put("producer", Testee::doProducer);
    ops.put("send", Testee::doSend);
    ops.put("send_async", Testee::doSendAsync);
    ops.put("await", Testee::doAwait);
    ops.put("subscribe", Testee::doSubscribe);
    ops.put("receive", Testee::doReceive);
    ops.put("ack", Testee::doAck);
    ops.put("redeliver", Testee::doRedeliver);
    ops.put("close", Testee::doClose);
    ops.put("disconnect", Testee::doDisconnect);
    Kit.serve(ops);
  }
}
