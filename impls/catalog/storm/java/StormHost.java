// A test program around ShellBolt and ShellSpout of Storm: StormHost bolt|spout [activate]
//
// What differs between releases is in Release.java of storm-2.8 and storm-0.10, apart from the name of the package, which
// setup.sh changes for the older one.
package testee;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import kit.Kit;
import org.apache.storm.generated.Bolt;
import org.apache.storm.generated.ComponentCommon;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.NullStruct;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.generated.StreamInfo;
import org.apache.storm.multilang.JsonSerializer;
import org.apache.storm.spout.ISpoutOutputCollector;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.IOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.ShellBolt;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;

@SuppressWarnings("unchecked")
public final class StormHost {
    private static final Map<Tuple, String> NAMES = new ConcurrentHashMap<>();
    private static volatile List<Integer> taskIds = List.of(7);
    private static ShellBolt bolt;
    private static ShellSpout spout;
    private static TopologyContext context;
    private static boolean activates;

    static void logged(String message, String level) {
        Kit.event("log", Kit.object("msg", message, "level", level.toLowerCase()));
    }

    private static void emitted(String stream, Collection<Tuple> anchors, List<Object> values, Integer task, Object id) {
        List<String> names = new ArrayList<>();
        for (Tuple anchor : anchors == null ? List.<Tuple>of() : anchors) {
            names.add(NAMES.get(anchor));
        }
        Kit.event("emit", Kit.object("stream", stream, "tuple", values, "anchors", names, "task", task, "id", id));
    }

    private static void failed(Throwable error) {
        Kit.event("error", Kit.object("msg", String.valueOf(error.getMessage())));
    }

    private static final class BoltEnd implements IOutputCollector {
        @Override
        public List<Integer> emit(String stream, Collection<Tuple> anchors, List<Object> values) {
            emitted(stream, anchors, values, null, null);
            return taskIds;
        }

        @Override
        public void emitDirect(int task, String stream, Collection<Tuple> anchors, List<Object> values) {
            emitted(stream, anchors, values, task, null);
        }

        @Override
        public void ack(Tuple tuple) {
            settled("ack", tuple);
        }

        @Override
        public void fail(Tuple tuple) {
            settled("fail", tuple);
        }

        private void settled(String how, Tuple tuple) {
            Kit.event(how, Kit.object("id", NAMES.get(tuple)));
        }

        public void resetTimeout(Tuple tuple) {
        }

        public void flush() {
        }

        @Override
        public void reportError(Throwable error) {
            failed(error);
        }
    }

    private static final class SpoutEnd implements ISpoutOutputCollector {
        @Override
        public List<Integer> emit(String stream, List<Object> values, Object id) {
            emitted(stream, null, values, null, id);
            return taskIds;
        }

        @Override
        public void emitDirect(int task, String stream, List<Object> values, Object id) {
            emitted(stream, null, values, task, id);
        }

        public long getPendingCount() {
            return 0;
        }

        public void flush() {
        }

        @Override
        public void reportError(Throwable error) {
            failed(error);
        }
    }

    private static TopologyContext built(Map<String, Object> conf, Map<String, Object> given) throws Exception {
        Map<Integer, String> tasks = new HashMap<>();
        Map<String, List<Integer>> sorted = new HashMap<>();
        ((Map<String, String>) given.get("task->component")).forEach((task, name) -> {
            tasks.put(Integer.valueOf(task), name);
            sorted.computeIfAbsent(name, key -> new ArrayList<>()).add(Integer.valueOf(task));
        });
        sorted.values().forEach(java.util.Collections::sort);
        int own = ((Number) given.get("taskid")).intValue();
        String me = tasks.get(own);
        Map<String, Map<String, Fields>> fields = new HashMap<>();
        Map<String, Bolt> bolts = new HashMap<>();
        Map<String, Map<String, List<String>>> outputs = new HashMap<>();
        outputs.put(me, (Map<String, List<String>>) given.get("stream->outputfields"));
        outputs.putAll((Map<String, Map<String, List<String>>>) given.get("source->stream->fields"));
        Map<String, Map<GlobalStreamId, Grouping>> inputs = new HashMap<>();
        ((Map<String, Map<String, Map<String, Object>>>) given.get("source->stream->grouping")).forEach(
            (source, streams) -> streams.forEach((stream, how) -> inputs.computeIfAbsent(me, key -> new HashMap<>())
                .put(new GlobalStreamId(source, stream), grouping(how))));
        ((Map<String, Map<String, Map<String, Object>>>) given.get("stream->target->grouping")).forEach(
            (stream, targets) -> targets.forEach((target, how) -> inputs.computeIfAbsent(target, key -> new HashMap<>())
                .put(new GlobalStreamId(me, stream), grouping(how))));
        for (String name : sorted.keySet()) {
            Map<String, StreamInfo> streams = new HashMap<>();
            Map<String, Fields> named = new HashMap<>();
            outputs.getOrDefault(name, Map.of()).forEach((stream, list) -> {
                streams.put(stream, new StreamInfo(list, false));
                named.put(stream, new Fields(list));
            });
            fields.put(name, named);
            ComponentCommon common = new ComponentCommon(inputs.getOrDefault(name, Map.of()), streams);
            bolts.put(name, new Bolt(ComponentObject.serialized_java(new byte[0]), common));
        }
        StormTopology topology = new StormTopology(new HashMap<>(), bolts, new HashMap<>());
        String base = System.getenv("TMPDIR"); // which whoever started this removes, and Java would not ask for
        File folder = (base == null ? Files.createTempDirectory("storm")
            : Files.createTempDirectory(Path.of(base), "storm")).toFile();
        return Release.context(topology, conf, tasks, sorted, fields, folder.getPath(), own);
    }

    private static Grouping grouping(Map<String, Object> how) {
        return "FIELDS".equals(how.get("type")) ? Grouping.fields((List<String>) how.get("fields"))
            : Grouping.shuffle(new NullStruct());
    }

    private static Object start(String role, Map<String, Object> request) throws Exception {
        Map<String, Object> conf = new HashMap<>((Map<String, Object>) request.get("conf"));
        conf.put("topology.multilang.serializer", JsonSerializer.class.getName());
        conf.putIfAbsent("supervisor.worker.timeout.secs", 30);
        context = built(conf, (Map<String, Object>) request.get("context"));
        String[] child = ((List<String>) request.get("child")).toArray(new String[0]);
        if (role.equals("bolt")) {
            bolt = Release.bolt(conf, child);
            bolt.prepare(conf, context, new OutputCollector(new BoltEnd()));
        } else {
            spout = Release.spout(conf, child);
            spout.open(conf, context, new SpoutOutputCollector(new SpoutEnd()));
            if (activates) {
                spout.activate();
            }
        }
        return null;
    }

    private static Object tuple(Map<String, Object> request) {
        Tuple tuple = Release.tuple(context, (List<Object>) request.get("tuple"), (String) request.get("comp"),
            ((Number) request.get("task")).intValue(), (String) request.get("stream"));
        NAMES.put(tuple, (String) request.get("id"));
        bolt.execute(tuple);
        return null;
    }

    private static Map<String, Kit.Op> ops(String role) {
        Map<String, Kit.Op> ops = new HashMap<>();
        ops.put("start", request -> start(role, request));
        ops.put("task_ids", request -> {
            List<Integer> ids = new ArrayList<>();
            ((List<Number>) request.get("ids")).forEach(id -> ids.add(id.intValue()));
            taskIds = ids;
            return null;
        });
        if (role.equals("bolt")) {
            ops.put("tuple", StormHost::tuple);
            return ops;
        }
        ops.put("next", request -> told(() -> spout.nextTuple()));
        ops.put("ack", request -> told(() -> spout.ack(request.get("id"))));
        ops.put("fail", request -> told(() -> spout.fail(request.get("id"))));
        return ops;
    }

    private static Object told(Runnable call) {
        call.run();
        return null;
    }

    /** Load what a start needs before anybody waits for it. */
    private static void warm() throws Exception {
        Map<String, Object> given = new HashMap<>();
        given.put("task->component", Map.of("1", "warm"));
        given.put("taskid", 1);
        for (String name : List.of("stream->outputfields", "source->stream->fields", "source->stream->grouping",
            "stream->target->grouping")) {
            given.put(name, new HashMap<>());
        }
        Kit.write(Map.of("context", built(new HashMap<>(), given).toJSONString()));
        Release.bolt(new HashMap<>(), "true");
        Release.spout(new HashMap<>(), "true");
        new JsonSerializer();
        new ProcessBuilder("true").start().waitFor();
    }

    public static void main(String[] arguments) throws Exception {
        Kit.begin();
        activates = arguments.length > 1;
        warm();
        Kit.event("ready", Map.of());
        Kit.atEnd(StormHost::close);
        Kit.serve(ops(arguments[0]), "task_ids");
    }

    private static void close() {
        if (bolt != null) {
            bolt.cleanup();
        }
        if (spout != null) {
            spout.close();
        }
    }
}
