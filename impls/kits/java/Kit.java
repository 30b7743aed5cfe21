// What every testee in Java does, whatever library it is around. Copy this file beside your Testee.java.
//
// Java 17 or newer, nothing else. The contract is docs/testees.md of Wireproof:
//
//   Kit.serve(Map.of("connect", Testee::connect, ...))   JSON objects on stdin, one a line; each is answered on stdout
//   Kit.serveFilter(Testee::again)                       lines of hex on stdin, each answered by hex or by ERR and why
//   Kit.note, Kit.stepsOfRecord, Kit.run, ...            for user code that a library calls: bolts, spouts, processors
//
// JSON objects are Map<String, Object>, arrays List<Object>, whole numbers Long or BigInteger, others Double.
package kit;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

public final class Kit {
  private Kit() {}

  /** Throw this for what the library does not offer: nothing was sent then, and nobody asks for it again. */
  public static final class Unsupported extends RuntimeException {}

  /** Stands in a template for what is still to be written. */
  public static final class Todo extends RuntimeException {
    public Todo(String what) {
      super("still to be written in Testee.java: " + what);
    }
  }

  /** What carries out one op. */
  public interface Op {
    Object on(Map<String, Object> given) throws Exception;
  }

  // --- the loop ------------------------------------------------------------------------------------------------------

  private static PrintStream answers;

  private static Runnable last = () -> {};

  /** Keep stdout for answers from here on: whatever else is printed goes to stderr. The loops do this by themselves. */
  public static synchronized void begin() {
    if (answers == null) {
      answers = System.out;
      System.setOut(System.err);
    }
  }

  /** Do this at the end of stdin: end what the library has started. */
  public static void atEnd(Runnable work) {
    last = work;
  }

  private static synchronized void say(String line) {
    byte[] text = (line + "\n").getBytes(StandardCharsets.UTF_8);
    answers.write(text, 0, text.length);
    answers.flush();
  }

  /** Tell what happened without being asked for, such as a checkpoint that a child wants. Any thread may. */
  public static void event(String name, Map<String, Object> members) {
    Map<String, Object> said = new LinkedHashMap<>();
    said.put("event", name);
    said.putAll(members);
    say(write(said));
  }

  /** An object with these members, which may be null: name, value, name, value. */
  public static Map<String, Object> object(Object... members) {
    Map<String, Object> made = new LinkedHashMap<>();
    for (int at = 0; at < members.length; at += 2) {
      made.put((String) members[at], members[at + 1]);
    }
    return made;
  }

  private interface Line {
    void take(String line) throws Exception;
  }

  private static void eachLine(Line line) throws Exception {
    InputStream in = new BufferedInputStream(System.in, 1 << 16);
    ByteArrayOutputStream held = new ByteArrayOutputStream();
    for (int octet; (octet = in.read()) >= 0; ) {
      if (octet != '\n') {
        held.write(octet);
        continue;
      }
      line.take(held.toString(StandardCharsets.UTF_8));
      held.reset();
    }
    if (held.size() > 0) {
      line.take(held.toString(StandardCharsets.UTF_8));
    }
    last.run();
    Runtime.getRuntime().halt(0); // threads of the library may wait for somebody who is gone
  }

  /**
   * Carry out what is said on stdin until it ends, one op after the other; those in {@code atOnce} do not wait for one
   * that is still going on.
   */
  public static void serve(Map<String, Op> ops, String... atOnce) throws Exception {
    begin();
    Set<String> quick = Set.of(atOnce);
    ExecutorService worker = Executors.newSingleThreadExecutor();
    eachLine(
        line -> {
          Map<String, Object> said = request(line);
          if (said == null) {
            System.err.println("no JSON object with an op: " + line.substring(0, Math.min(100, line.length())));
          } else if (quick.isEmpty() || quick.contains(said.get("op"))) {
            carryOut(ops, said);
          } else {
            worker.submit(() -> carryOut(ops, said));
          }
        });
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> request(String line) {
    try {
      Object said = read(line);
      return said instanceof Map && ((Map<String, Object>) said).get("op") instanceof String
          ? (Map<String, Object>) said
          : null;
    } catch (IllegalArgumentException | StackOverflowError wrong) {
      return null;
    }
  }

  private static void carryOut(Map<String, Op> ops, Map<String, Object> said) {
    Map<String, Object> answer = object("id", said.get("id"));
    String line;
    try {
      Op op = ops.get((String) said.get("op"));
      if (op == null) {
        throw new Unsupported();
      }
      answer.put("ok", op.on(said));
      line = write(answer);
    } catch (Unsupported none) {
      line = write(object("id", said.get("id"), "error", "unsupported"));
    } catch (Throwable wrong) { // a library may throw errors, too
      line = write(object("id", said.get("id"), "error", why(wrong)));
    }
    say(line);
  }

  private static String why(Throwable wrong) {
    Throwable cause = wrong instanceof java.util.concurrent.ExecutionException && wrong.getCause() != null
        ? wrong.getCause() : wrong;
    return cause.getClass().getSimpleName() + ": " + cause.getMessage();
  }

  /** What a filter makes of octets. */
  public interface Again {
    byte[] of(byte[] octets) throws Exception;
  }

  /** Answer each line of hex by the hex of what {@code again} makes of its octets, or by ERR and why it failed. */
  public static void serveFilter(Again again) throws Exception {
    begin();
    eachLine(
        line -> {
          String answer;
          try {
            answer = hex(again.of(octets(line.strip())));
          } catch (Throwable wrong) { // deep values may exhaust the stack
            String told = "ERR " + String.valueOf(wrong).replace('\n', ' ').replace('\r', ' ');
            answer = told.substring(0, Math.min(300, told.length()));
          }
          say(answer);
        });
  }

  public static byte[] octets(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  public static String hex(byte[] octets) {
    return HexFormat.of().formatHex(octets);
  }

  /** Host and port of HOST:PORT. */
  public static Map.Entry<String, Integer> place(String address) {
    int at = address.lastIndexOf(':');
    String host = address.substring(0, at).replace("[", "").replace("]", "");
    return Map.entry(host, Integer.valueOf(address.substring(at + 1)));
  }

  // --- what a testee has to remember ---------------------------------------------------------------------------------

  /** Things by the texts that the suite calls them by. */
  public static final class Handles<T> {
    private final Map<String, T> things = new HashMap<>();
    private int count;

    /** A new handle. */
    public synchronized String keep(T thing) {
      String handle = String.valueOf(++count);
      things.put(handle, thing);
      return handle;
    }

    public synchronized T get(Object handle) {
      if (!things.containsKey(String.valueOf(handle))) {
        throw new IllegalArgumentException("there is no " + handle);
      }
      return things.get(String.valueOf(handle));
    }

    /** What it stood for; it is no handle any more. */
    public synchronized T drop(Object handle) {
      T found = get(handle);
      things.remove(String.valueOf(handle));
      return found;
    }
  }

  /**
   * What a library's thread has heard on one connection, for the thread that carries out ops: messages that wait for
   * receive, marks such as receipts, and why the connection is over.
   */
  public static final class Inbox<T> {
    private final LinkedBlockingQueue<T> messages = new LinkedBlockingQueue<>();
    private final Set<Object> marks = new HashSet<>();
    private String why;

    /** A message has come. */
    public synchronized void put(T message) {
      messages.add(message);
      notifyAll();
    }

    /** Something that is waited for has come, such as a receipt. */
    public synchronized void mark(Object name) {
      marks.add(name);
      notifyAll();
    }

    /** The connection is of no more use. The first reason counts. */
    public synchronized void over(String reason) {
      why = why == null ? String.valueOf(reason) : why;
      notifyAll();
    }

    /** Throws when the connection is over. */
    public synchronized void live() throws IOException {
      if (why != null) {
        throw new IOException(why);
      }
    }

    /** The next message, null when there is none in time. */
    public synchronized T take(long ms) throws Exception {
      long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
      while (messages.isEmpty()) {
        live();
        if (!rest(until)) {
          return null;
        }
      }
      return messages.poll();
    }

    /** Wait for a mark. Throws when it does not come. */
    public synchronized void waitFor(Object name, long ms) throws Exception {
      long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
      while (!marks.contains(name)) {
        live();
        if (!rest(until)) {
          throw new IOException(name + " did not come");
        }
      }
    }

    private boolean rest(long until) throws InterruptedException {
      long left = until - System.nanoTime();
      if (left > 0) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
      return left > 0;
    }
  }

  // --- user code that a library calls --------------------------------------------------------------------------------

  /** Note down what user code saw, when a callback begins: before its first step, and before any answer. */
  public static void note(String call, Map<String, Object> seen) throws IOException {
    String name = System.getenv("WIREPROOF_OBSERVATIONS");
    if (name != null) {
      Map<String, Object> said = object("call", call);
      said.putAll(seen);
      String line = write(said) + "\n";
      Files.writeString(Path.of(name), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
  }

  /** The octets of a record, for libraries that leave its base64 to user code. */
  public static byte[] decoded(String data) {
    return Base64.getDecoder().decode(data == null ? "" : data);
  }

  /** The steps that a record of KCL carries; none for an ordinary one. */
  public static List<Map<String, Object>> stepsOfRecord(byte[] data) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString();
      return read(text) instanceof Map<?, ?> found ? steps(found.get("wireproof")) : List.of();
    } catch (CharacterCodingException | IllegalArgumentException | StackOverflowError ordinary) {
      return List.of();
    }
  }

  /** The steps that a tuple of Storm carries; null for an ordinary one, which is to be acked. */
  public static List<Map<String, Object>> stepsOfTuple(List<?> values) {
    boolean scripted = values.size() == 2 && "wireproof".equals(values.get(0)) && values.get(1) instanceof List;
    return scripted ? steps(values.get(1)) : null;
  }

  /** The steps that conf has for a spout's next, ack or fail; {@code nexts} were next before it. */
  public static List<Map<String, Object>> stepsOfCommand(Map<String, Object> conf, String command, int nexts) {
    if (!command.equals("next")) {
      return steps(conf.get("wireproof.on_" + command));
    }
    boolean there = conf.get("wireproof.script") instanceof List<?> script && nexts < script.size();
    return there ? steps(((List<?>) conf.get("wireproof.script")).get(nexts)) : List.of();
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> steps(Object value) {
    List<Map<String, Object>> found = new ArrayList<>();
    for (Object each : value instanceof List ? (List<Object>) value : List.of()) {
      if (each instanceof Map) {
        found.add((Map<String, Object>) each);
      }
    }
    return found;
  }

  /**
   * Do them, in order. {@code ops} are those that the library does: checkpoint, emit, ack, fail, log. Throws what they
   * throw, and what the step raise asks for: the later steps are dropped then.
   */
  public static void run(List<Map<String, Object>> steps, Map<String, Op> ops) throws Exception {
    for (Map<String, Object> step : steps) {
      String op = String.valueOf(step.get("op"));
      if (ops.containsKey(op)) {
        ops.get(op).on(step);
      } else if (op.equals("print")) {
        System.out.print(step.get("text"));
        System.out.flush();
      } else if (op.equals("stderr")) {
        System.err.print(step.get("text"));
      } else if (op.equals("sleep")) {
        Thread.sleep(step.get("ms") instanceof Number ms ? ms.longValue() : 0);
      } else if (op.equals("raise")) {
        throw new IllegalStateException("told to raise");
      } else {
        System.err.println("unknown step " + op);
      }
    }
  }

  // --- JSON ----------------------------------------------------------------------------------------------------------

  /** The value of a JSON text. Throws IllegalArgumentException for what is none. */
  public static Object read(String text) {
    Reader reader = new Reader(text);
    Object value = reader.value();
    reader.blank();
    if (reader.at < text.length()) {
      throw reader.wrong();
    }
    return value;
  }

  private static final class Reader {
    private final String text;
    private int at;

    Reader(String text) {
      this.text = text;
    }

    IllegalArgumentException wrong() {
      return new IllegalArgumentException("no JSON at character " + at);
    }

    void blank() {
      while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
        at++;
      }
    }

    private char peek() {
      blank();
      if (at >= text.length()) {
        throw wrong();
      }
      return text.charAt(at);
    }

    private boolean skip(String word) {
      blank();
      boolean there = text.startsWith(word, at);
      at += there ? word.length() : 0;
      return there;
    }

    private void must(String word) {
      if (!skip(word)) {
        throw wrong();
      }
    }

    Object value() {
      char first = peek();
      if (first == '{') {
        return members();
      }
      if (first == '[') {
        return items();
      }
      if (first == '"') {
        return string();
      }
      if (skip("null")) {
        return null;
      }
      if (skip("true")) {
        return true;
      }
      return skip("false") ? (Object) false : number();
    }

    private Map<String, Object> members() {
      Map<String, Object> found = new LinkedHashMap<>();
      must("{");
      if (skip("}")) {
        return found;
      }
      do {
        if (peek() != '"') {
          throw wrong();
        }
        String name = string();
        must(":");
        found.put(name, value());
      } while (skip(","));
      must("}");
      return found;
    }

    private List<Object> items() {
      List<Object> found = new ArrayList<>();
      must("[");
      if (skip("]")) {
        return found;
      }
      do {
        found.add(value());
      } while (skip(","));
      must("]");
      return found;
    }

    private Object number() {
      int start = at;
      while (at < text.length() && "+-0123456789.eE".indexOf(text.charAt(at)) >= 0) {
        at++;
      }
      String found = text.substring(start, at);
      try {
        if (!found.matches("-?[0-9]+")) {
          return Double.valueOf(found);
        }
        BigInteger whole = new BigInteger(found);
        return whole.bitLength() < 64 ? (Object) whole.longValue() : whole;
      } catch (NumberFormatException none) {
        throw wrong();
      }
    }

    private String string() {
      StringBuilder found = new StringBuilder();
      at++;
      while (at < text.length()) {
        char next = text.charAt(at++);
        if (next == '"') {
          return found.toString();
        }
        found.append(next == '\\' ? escaped() : next);
      }
      throw wrong();
    }

    private char escaped() {
      char sign = at < text.length() ? text.charAt(at++) : ' ';
      int which = "\"\\/bfnrt".indexOf(sign);
      if (which >= 0) {
        return "\"\\/\b\f\n\r\t".charAt(which);
      }
      if (sign != 'u' || at + 4 > text.length()) {
        throw wrong();
      }
      at += 4;
      return (char) HexFormat.fromHexDigits(text, at - 4, at);
    }
  }

  /** A value as JSON text on one line. Throws IllegalArgumentException for what JSON has not. */
  public static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
  }

  private static void write(Object value, StringBuilder out) {
    if (value instanceof Map<?, ?> members) {
      String between = "{";
      for (Map.Entry<?, ?> member : members.entrySet()) {
        out.append(between);
        quote(String.valueOf(member.getKey()), out);
        out.append(':');
        write(member.getValue(), out);
        between = ",";
      }
      out.append(between.equals("{") ? "{}" : "}");
    } else if (value instanceof Iterable<?> items) {
      String between = "[";
      for (Object item : items) {
        out.append(between);
        write(item, out);
        between = ",";
      }
      out.append(between.equals("[") ? "[]" : "]");
    } else if (value instanceof Double || value instanceof Float) {
      double number = ((Number) value).doubleValue();
      if (Double.isNaN(number) || Double.isInfinite(number)) {
        throw new IllegalArgumentException("JSON has no " + number);
      }
      out.append(value);
    } else if (value == null || value instanceof Boolean || value instanceof Number) {
      out.append(value);
    } else if (value instanceof CharSequence || value instanceof Character) {
      quote(String.valueOf(value), out);
    } else {
      throw new IllegalArgumentException("JSON has no " + value.getClass().getName());
    }
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int at = 0; at < text.length(); at++) {
      char sign = text.charAt(at);
      if (sign == '"' || sign == '\\') {
        out.append('\\').append(sign);
      } else if (sign < ' ' || sign > '~') {
        out.append(String.format("\\u%04x", (int) sign));
      } else {
        out.append(sign);
      }
    }
    out.append('"');
  }
}
