// What the test programs around both KCL hosts have in common: one JSON object a line on stdin and stdout.
package testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public abstract class Hosting {
    public static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream OUT = System.out;
    public static volatile String error;

    /** Thrown where the library would end the whole process. */
    public static final class Gone extends RuntimeException {
        public Gone(String why) {
            super(why);
        }
    }

    protected abstract void start(ProcessBuilder child, String shardId) throws Exception;

    /** One call; false when the library does not know it. */
    protected abstract boolean call(String op, JsonNode given) throws Exception;

    public static void say(ObjectNode line) {
        synchronized (OUT) {
            byte[] text = (line.toString() + "\n").getBytes(StandardCharsets.UTF_8);
            OUT.write(text, 0, text.length);
            OUT.flush();
        }
    }

    public static void attempt(String at) {
        say(JSON.createObjectNode().put("event", "checkpoint").put("at", at));
    }

    public static byte[] octets(String hex) {
        byte[] data = new byte[hex.length() / 2];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return data;
    }

    public void serve() throws Exception {
        System.setOut(System.err); // whatever a library prints is no answer
        ExecutorService worker = Executors.newSingleThreadExecutor();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode request = JSON.readTree(line);
            String op = request.path("op").asText();
            if (op.equals("checkpointer")) {
                error = request.path("error").isTextual() ? request.path("error").asText() : null;
                answer(request, null);
            } else if (op.equals("start")) {
                List<String> argv = new ArrayList<>();
                request.path("child").forEach(part -> argv.add(part.asText()));
                ProcessBuilder child = new ProcessBuilder(argv);
                request.path("env").fields().forEachRemaining(e -> child.environment().put(e.getKey(), e.getValue().asText()));
                start(child, request.path("shardId").asText());
                answer(request, null);
            } else {
                worker.submit(() -> perform(request, op));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private void perform(JsonNode request, String op) {
        String failure = null;
        try {
            if (!call(op, request)) {
                failure = "unsupported";
            }
        } catch (Throwable thrown) {
            failure = String.valueOf(thrown);
        }
        answer(request, failure);
    }

    private static void answer(JsonNode request, String failure) {
        ObjectNode line = JSON.createObjectNode();
        line.set("id", request.get("id"));
        if (failure == null) {
            line.putNull("ok");
        } else {
            line.put("error", failure);
        }
        say(line);
    }
}
