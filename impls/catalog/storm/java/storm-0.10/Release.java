// What StormHost needs of Storm 0.10 and no other release has.
package testee;

import backtype.storm.generated.StormTopology;
import backtype.storm.spout.ShellSpout;
import backtype.storm.task.ShellBolt;
import backtype.storm.task.TopologyContext;
import backtype.storm.tuple.Fields;
import backtype.storm.tuple.Tuple;
import clojure.lang.Atom;
import clojure.lang.RT;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;

final class Release {
    // How the library writes what a child logs; the rest of what it writes is its own.
    private static final Pattern LOGGED = Pattern.compile("ShellLog pid:\\S+, name:\\S+ (.*)", Pattern.DOTALL);

    private Release() {
    }

    static TopologyContext context(StormTopology topology, Map<String, Object> conf, Map<Integer, String> tasks,
            Map<String, List<Integer>> sorted, Map<String, Map<String, Fields>> fields, String folder, int own) {
        return new TopologyContext(topology, conf, tasks, sorted, fields, "topology", folder, folder, own, 6700,
            List.copyOf(tasks.keySet()), new HashMap<>(), new HashMap<>(), new HashMap<>(), new HashMap<>(),
            new Atom(RT.booleanCast(false))); // RT, which the library needs, takes long to load
    }

    /** The library's own tuples have to be of a stream that the topology declares, and this one need not be. */
    static Tuple tuple(TopologyContext context, List<Object> values, String comp, int task, String stream) {
        Map<String, Object> answers = Map.of("getValues", values, "getSourceComponent", comp, "getSourceTask", task,
            "getSourceStreamId", stream);
        return (Tuple) Proxy.newProxyInstance(Release.class.getClassLoader(), new Class<?>[] {Tuple.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> answers.get(method.getName());
            });
    }

    /** The library logs through a field of its class, and has no other way out for what a child logs. */
    private static Logger logs() {
        return (Logger) Proxy.newProxyInstance(Release.class.getClassLoader(), new Class<?>[] {Logger.class},
            (proxy, method, arguments) -> {
                Matcher found = LOGGED.matcher(String.valueOf(arguments == null ? null : arguments[0]));
                if (found.matches()) {
                    StormHost.logged(found.group(1), method.getName());
                }
                return method.getReturnType() == boolean.class ? true : null;
            });
    }

    static ShellBolt bolt(Map<String, Object> conf, String... child) {
        ShellBolt.LOG = logs();
        return new ShellBolt(child);
    }

    static ShellSpout spout(Map<String, Object> conf, String... child) {
        ShellSpout.LOG = logs();
        return new ShellSpout(child);
    }
}
