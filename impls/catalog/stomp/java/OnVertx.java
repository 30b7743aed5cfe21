import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.stomp.Frame;
import io.vertx.ext.stomp.StompClient;
import io.vertx.ext.stomp.StompClientConnection;
import io.vertx.ext.stomp.StompClientOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A program around the STOMP client of Vert.x: told by JSON lines, it calls the library, which asks for a receipt for
 * every frame and gives a future of it. The future is waited for when a receipt is asked for.
 */
public final class OnVertx {
  private static final int PATIENCE_S = 5;

  private static final class Unsupported extends RuntimeException {}

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
  private Map<String, Frame> refs = new HashMap<>();
  private int seen;

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
    String[] place = given.getString("address").split(":");
    heard = new Heard(null);
    Heard mine = heard;
    refs = new HashMap<>();
    seen = 0;
    StompClientOptions options =
        new StompClientOptions()
            .setHost(place[0])
            .setPort(Integer.parseInt(place[1]))
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
    return new JsonObject().put("version", connection.version());
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
    Buffer body = Buffer.buffer(HexFormat.of().parseHex(given.getString("body_hex")));
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
    if (frame == null) {
      throw new Over("there is no such message");
    }
    if (given.getValue("receipt") instanceof String) {
      throw new Unsupported();
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
    String ref = String.valueOf(++seen);
    refs.put(ref, told.frame());
    JsonObject headers = new JsonObject();
    told.frame().getHeaders().forEach(headers::put);
    byte[] body = told.frame().getBody() == null ? new byte[0] : told.frame().getBodyAsByteArray();
    return new JsonObject()
        .put("ref", ref)
        .put("headers", headers)
        .put("body_hex", HexFormat.of().formatHex(body))
        .put("sub", told.sub());
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

  private Object carryOut(JsonObject given) throws Exception {
    String transaction = given.getString("transaction");
    Map<String, String> none = headers(given.copy().putNull("transaction").putNull("headers"));
    return switch (given.getString("op")) {
      case "connect" -> connect(given);
      case "send" -> send(given);
      case "subscribe" -> subscribe(given);
      case "unsubscribe" -> unsubscribe(given);
      case "ack" -> settle(given, true);
      case "nack" -> settle(given, false);
      case "begin" -> done(given, live().beginTX(transaction, none));
      case "commit" -> done(given, live().commit(transaction, none));
      case "abort" -> done(given, live().abort(transaction, none));
      case "receive" -> receive(given);
      case "disconnect" -> disconnect();
      default -> throw new Unsupported();
    };
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err);
    OnVertx testee = new OnVertx();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      JsonObject said = new JsonObject(line);
      JsonObject answer = new JsonObject().put("id", said.getValue("id"));
      try {
        answer.put("ok", testee.carryOut(said));
      } catch (Unsupported error) {
        answer.put("error", "unsupported");
      } catch (Exception error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        answer.put("error", cause.getClass().getSimpleName() + ": " + cause.getMessage());
      }
      out.write((answer.encode() + "\n").getBytes(StandardCharsets.UTF_8));
      out.flush();
    }
    System.exit(0);
  }
}
