// A STOMP client library, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Give what the library hears to an inbox of the kit: messages, receipts, and why the connection is over.
import java.util.LinkedHashMap;
import java.util.Map;
import kit.Kit;

public final class Testee {

  /**
   * Open a connection to address (HOST:PORT), offering versions, host, login, passcode, heart_beat; answer when the
   * library is connected.
   */
  static Object doConnect(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("connect");
  }

  /**
   * Send the octets of body_hex to destination with headers, in transaction if there is one; with receipt, answer
   * when the RECEIPT has come.
   */
  static Object doSend(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("send");
  }

  /**
   * Subscribe to destination in the mode ack; later ops call the subscription sub.
   */
  static Object doSubscribe(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("subscribe");
  }

  /**
   * End the subscription sub.
   */
  static Object doUnsubscribe(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("unsubscribe");
  }

  /**
   * Acknowledge the message that receive gave this ref, in transaction if there is one.
   */
  static Object doAck(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("ack");
  }

  /**
   * Refuse the message that receive gave this ref.
   */
  static Object doNack(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("nack");
  }

  /**
   * Begin a transaction that is called transaction.
   */
  static Object doBegin(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("begin");
  }

  /**
   * Commit that transaction.
   */
  static Object doCommit(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("commit");
  }

  /**
   * Abort that transaction.
   */
  static Object doAbort(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("abort");
  }

  /**
   * Wait timeout_ms for a message of any subscription: ref, headers, body_hex and sub; or null when none came.
   */
  static Object doReceive(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("receive");
  }

  /**
   * End the session as the library does that.
   */
  static Object doDisconnect(Map<String, Object> given) throws Exception {
    throw new Kit.Todo("disconnect");
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Kit.Op> ops = new LinkedHashMap<>();
    ops.put("connect", Testee::doConnect);
    ops.put("send", Testee::doSend);
    ops.put("subscribe", Testee::doSubscribe);
    ops.put("unsubscribe", Testee::doUnsubscribe);
    ops.put("ack", Testee::doAck);
    ops.put("nack", Testee::doNack);
    ops.put("begin", Testee::doBegin);
    ops.put("commit", Testee::doCommit);
    ops.put("abort", Testee::doAbort);
    ops.put("receive", Testee::doReceive);
    ops.put("disconnect", Testee::doDisconnect);
    Kit.serve(ops);
  }
}
