// What StormHost needs of Storm 2.8 and no other release has.
package testee;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.metrics2.StormMetricRegistry;
import org.apache.storm.multilang.ShellMsg;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.task.ShellBolt;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.TupleImpl;
import org.apache.storm.utils.ShellLogHandler;
import org.apache.storm.utils.ShellProcess;

final class Release {
    private Release() {
    }

    /** Where the library hands over what a child logs. */
    public static final class Logs implements ShellLogHandler {
        @Override
        public void setUpContext(Class<?> owner, ShellProcess process, TopologyContext where) {
        }

        @Override
        public void log(ShellMsg message) {
            StormHost.logged(message.getMsg(), message.getLogLevel().name());
        }
    }

    static TopologyContext context(StormTopology topology, Map<String, Object> conf, Map<Integer, String> tasks,
            Map<String, List<Integer>> sorted, Map<String, Map<String, Fields>> fields, String folder, int own) {
        return new TopologyContext(topology, conf, tasks, sorted, fields, new HashMap<>(), "topology", folder, folder, own,
            6700, List.copyOf(tasks.keySet()), new HashMap<>(), new HashMap<>(), new HashMap<>(), new HashMap<>(),
            new AtomicBoolean(false), new StormMetricRegistry());
    }

    static Tuple tuple(TopologyContext context, List<Object> values, String comp, int task, String stream) {
        return new TupleImpl(context, values, comp, task, stream);
    }

    /** The child is run where this program is; its logs are events. */
    static ShellBolt bolt(Map<String, Object> conf, String... child) {
        conf.put("topology.multilang.log.handler", Logs.class.getName());
        ShellBolt bolt = new ShellBolt(child);
        bolt.changeChildCWD(false);
        return bolt;
    }

    static ShellSpout spout(Map<String, Object> conf, String... child) {
        conf.put("topology.multilang.log.handler", Logs.class.getName());
        ShellSpout spout = new ShellSpout(child);
        spout.changeChildCWD(false);
        return spout;
    }
}
