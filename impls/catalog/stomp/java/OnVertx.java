import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.stomp.Frame;
import io.vertx.ext.stomp.StompClient;
import io.vertx.ext.stomp.StompClientConnection;
import io.vertx.ext.stomp.StompClientOptions;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import kit.Kit;

/**
 * A program around the STOMP client of Vert.x: told by JSON lines, it calls the library, which asks for a receipt for
 * every frame and gives a future of it. The future is waited for when a receipt is asked for.
 */
public final class OnVertx {
  private static final int PATIENCE_S = 5;

  private static final class Over extends RuntimeException {
    Over(String why) {
      super(why);
    }
  }

  private record Told(Frame frame, String sub) {}

  private final Vertx vertx = Vertx.vertx();
  private StompClient client;
  private StompClientConnection connection;
  private Heard heard = new Heard("not connected");
  private Kit.Handles<Frame> refs = new Kit.Handles<>();

  /** What was heard of one connection. */
  private static final class Heard {
    final LinkedBlockingQueue<Told> inbox = new LinkedBlockingQueue<>();
    final CompletableFuture<String> over = new CompletableFuture<>();

    Heard(String why) {
      if (why != null) {
        over.complete(why);
      }
    }

    void end(String why) {
      if (over.complete(why)) {
        inbox.add(new Told(null, null));
      }
    }
  }

  private <T> T await(Future<T> future) throws Exception {
    CompletableFuture<Object> either =
        CompletableFuture.anyOf(
            future.toCompletionStage().toCompletableFuture(), heard.over.thenApply(Over::new));
    Object found = either.get(PATIENCE_S, TimeUnit.SECONDS);
    if (found instanceof Over over) {
      throw over;
    }
    return future.result();
  }

  private Object done(JsonObject given, Future<?> future) throws Exception {
    Object receipt = given.getValue("receipt");
    if (receipt != null && !Boolean.FALSE.equals(receipt)) {
      await(future);
    }
    return true;
  }

  private StompClientConnection live() {
    if (heard.over.isDone()) {
      throw new Over(heard.over.join());
    }
    return connection;
  }

  private Object connect(JsonObject given) throws Exception {
    if (client != null) {
      client.close();
    }
    Map.Entry<String, Integer> place = Kit.place(given.getString("address"));
    heard = new Heard(null);
    Heard mine = heard;
    refs = new Kit.Handles<>();
    StompClientOptions options =
        new StompClientOptions()
            .setHost(place.getKey())
            .setPort(place.getValue())
            .setVirtualHost(given.getString("host"))
            .setAcceptedVersions(
                given.getJsonArray("versions").stream().map(Object::toString).toList());
    if (given.getString("login") != null) {
      options.setLogin(given.getString("login"));
    }
    if (given.getString("passcode") != null) {
      options.setPasscode(given.getString("passcode"));
    }
    if (given.getJsonArray("heart_beat") != null) {
      List<?> beats = given.getJsonArray("heart_beat").getList();
      options.setHeartbeat(new JsonObject().put("x", beats.get(0)).put("y", beats.get(1)));
    }
    client = StompClient.create(vertx, options);
    client.errorFrameHandler(frame -> mine.end("ERROR: " + frame.getHeader("message")));
    client.exceptionHandler(error -> mine.end(String.valueOf(error.getMessage())));
    try {
      connection = await(client.connect());
    } catch (Exception error) {
      mine.end("not connected");
      throw error;
    }
    connection.closeHandler(each -> mine.end("the connection has ended"));
    connection.connectionDroppedHandler(each -> mine.end("the connection was dropped"));
    return Map.of("version", connection.version());
  }

  private static Map<String, String> headers(JsonObject given) {
    Map<String, String> found = new LinkedHashMap<>();
    JsonObject more = given.getJsonObject("headers");
    if (more != null) {
      more.forEach(each -> found.put(each.getKey(), String.valueOf(each.getValue())));
    }
    if (given.getString("transaction") != null) {
      found.put("transaction", given.getString("transaction"));
    }
    if (given.getValue("receipt") instanceof String receipt) {
      found.put("receipt", receipt);
    }
    return found;
  }

  private Object send(JsonObject given) throws Exception {
    Buffer body = Buffer.buffer(Kit.octets(given.getString("body_hex")));
    return done(given, live().send(given.getString("destination"), headers(given), body));
  }

  private Object subscribe(JsonObject given) throws Exception {
    Map<String, String> headers = headers(given);
    String sub = given.getString("sub");
    headers.put("id", sub);
    headers.put("ack", given.getString("ack", "auto"));
    Heard mine = heard;
    return done(
        given,
        live()
            .subscribe(
                given.getString("destination"),
                headers,
                frame -> mine.inbox.add(new Told(frame, sub))));
  }

  private Object unsubscribe(JsonObject given) throws Exception {
    Map<String, String> headers = headers(given);
    headers.put("id", given.getString("sub"));
    return done(given, live().unsubscribe(given.getString("sub"), headers));
  }

  private Object settle(JsonObject given, boolean ack) throws Exception {
    Frame frame = refs.get(given.getString("ref"));
    if (given.getValue("receipt") instanceof String) {
      throw new Kit.Unsupported();
    }
    String id = frame.getAck();
    String transaction = given.getString("transaction");
    StompClientConnection live = live();
    if (transaction == null) {
      return done(given, ack ? live.ack(id) : live.nack(id));
    }
    return done(given, ack ? live.ack(id, transaction) : live.nack(id, transaction));
  }

  private Object receive(JsonObject given) throws Exception {
    Told told = heard.inbox.poll(given.getInteger("timeout_ms"), TimeUnit.MILLISECONDS);
    if (told == null) {
      live();
      return null;
    }
    if (told.frame() == null) {
      heard.inbox.add(told);
      throw new Over(heard.over.join());
    }
    byte[] body = told.frame().getBody() == null ? new byte[0] : told.frame().getBodyAsByteArray();
    return Kit.object(
        "ref", refs.keep(told.frame()),
        "headers", new LinkedHashMap<>(told.frame().getHeaders()),
        "body_hex", Kit.hex(body),
        "sub", told.sub());
  }

  private Object disconnect() throws Exception {
    if (connection != null && !heard.over.isDone()) {
      try {
        await(connection.disconnect());
      } catch (Over over) {
        // It has ended, which was what was wanted.
      }
      heard.end("disconnected");
    }
    return true;
  }

  /** An op that ends a transaction or begins one. */
  private interface OfTransaction {
    Future<?> of(StompClientConnection live, String transaction, Map<String, String> headers);
  }

  private Object transaction(JsonObject given, OfTransaction work) throws Exception {
    Map<String, String> none = headers(given.copy().putNull("transaction").putNull("headers"));
    return done(given, work.of(live(), given.getString("transaction"), none));
  }

  /** An op that is given what was said as the library's own objects. */
  private interface Op {
    Object on(JsonObject given) throws Exception;
  }

  private static void put(Map<String, Kit.Op> ops, String name, Op op) {
    ops.put(name, given -> op.on(new JsonObject(given)));
  }

  public static void main(String[] arguments) throws Exception {
    OnVertx testee = new OnVertx();
    Map<String, Kit.Op> ops = new HashMap<>();
    put(ops, "connect", testee::connect);
    put(ops, "send", testee::send);
    put(ops, "subscribe", testee::subscribe);
    put(ops, "unsubscribe", testee::unsubscribe);
    put(ops, "ack", given -> testee.settle(given, true));
    put(ops, "nack", given -> testee.settle(given, false));
    put(ops, "begin", given -> testee.transaction(given, StompClientConnection::beginTX));
    put(ops, "commit", given -> testee.transaction(given, StompClientConnection::commit));
    put(ops, "abort", given -> testee.transaction(given, StompClientConnection::abort));
    put(ops, "receive", testee::receive);
    put(ops, "disconnect", given -> testee.disconnect());
    Kit.serve(ops);
  }
}
