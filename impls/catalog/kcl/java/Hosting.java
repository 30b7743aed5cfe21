// What the test programs around both KCL hosts have in common: what they are told, with the loop of the kit.
package testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kit.Kit;

public abstract class Hosting {
    public static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> CALLS = List.of(
            "initialize", "processRecords", "shutdown", "leaseLost", "shardEnded", "shutdownRequested");
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

    public static void attempt(String at) {
        Kit.event("checkpoint", Kit.object("at", at));
    }

    public static byte[] octets(String hex) {
        return Kit.octets(hex);
    }

    public void serve() throws Exception {
        Map<String, Kit.Op> ops = new HashMap<>();
        ops.put("checkpointer", given -> {
            error = given.get("error") instanceof String name ? name : null;
            return null;
        });
        ops.put("start", this::begin);
        for (String op : CALLS) {
            ops.put(op, given -> {
                if (!call(op, JSON.valueToTree(given))) {
                    throw new Kit.Unsupported();
                }
                return null;
            });
        }
        Kit.serve(ops, "checkpointer", "start");
    }

    private Object begin(Map<String, Object> given) throws Exception {
        JsonNode request = JSON.valueToTree(given);
        List<String> argv = new ArrayList<>();
        request.path("child").forEach(part -> argv.add(part.asText()));
        ProcessBuilder child = new ProcessBuilder(argv);
        request.path("env").fields().forEachRemaining(e -> child.environment().put(e.getKey(), e.getValue().asText()));
        start(child, request.path("shardId").asText());
        return null;
    }
}
