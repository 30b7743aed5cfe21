// A test program around MultiLangShardRecordProcessor of KCL 3, in its package because its parts are private to it.
package software.amazon.kinesis.multilang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import org.apache.commons.beanutils.BeanUtilsBean;
import org.apache.commons.beanutils.ConvertUtilsBean;
import software.amazon.kinesis.exceptions.InvalidStateException;
import software.amazon.kinesis.exceptions.KinesisClientLibDependencyException;
import software.amazon.kinesis.exceptions.ShutdownException;
import software.amazon.kinesis.exceptions.ThrottlingException;
import software.amazon.kinesis.lifecycle.events.InitializationInput;
import software.amazon.kinesis.lifecycle.events.LeaseLostInput;
import software.amazon.kinesis.lifecycle.events.ProcessRecordsInput;
import software.amazon.kinesis.lifecycle.events.ShardEndedInput;
import software.amazon.kinesis.lifecycle.events.ShutdownRequestedInput;
import software.amazon.kinesis.multilang.config.MultiLangDaemonConfiguration;
import software.amazon.kinesis.processor.RecordProcessorCheckpointer;
import software.amazon.kinesis.retrieval.KinesisClientRecord;
import software.amazon.kinesis.retrieval.kpl.ExtendedSequenceNumber;
import testee.Hosting;

public final class Kcl3Host extends Hosting {
    private MultiLangShardRecordProcessor processor;
    private final RecordProcessorCheckpointer checkpointer = (RecordProcessorCheckpointer) Proxy.newProxyInstance(
            Kcl3Host.class.getClassLoader(),
            new Class<?>[] {RecordProcessorCheckpointer.class},
            (self, method, given) -> {
                if (method.getName().equals("checkpoint")) {
                    tried(given == null ? null : String.valueOf(given[0]));
                }
                return null;
            });

    public static void main(String[] args) throws Exception {
        new Kcl3Host().serve();
    }

    @Override
    protected void start(ProcessBuilder child, String shardId) {
        MultiLangDaemonConfiguration plain =
                new MultiLangDaemonConfiguration(new BeanUtilsBean(), new ConvertUtilsBean());
        processor = new MultiLangShardRecordProcessor(child, Executors.newCachedThreadPool(), new ObjectMapper(), plain) {
            @Override
            void exit() {
                throw new Gone("the library ends the process");
            }
        };
    }

    @Override
    protected boolean call(String op, JsonNode given) {
        switch (op) {
            case "initialize":
                processor.initialize(InitializationInput.builder()
                        .shardId(given.path("shardId").asText())
                        .extendedSequenceNumber(ExtendedSequenceNumber.TRIM_HORIZON)
                        .build());
                return true;
            case "processRecords":
                List<KinesisClientRecord> records = new ArrayList<>();
                for (JsonNode record : given.path("records")) {
                    records.add(KinesisClientRecord.builder()
                            .data(ByteBuffer.wrap(octets(record.path("data_hex").asText())))
                            .partitionKey(record.path("partitionKey").asText())
                            .sequenceNumber(record.path("sequenceNumber").asText())
                            .approximateArrivalTimestamp(Instant.ofEpochMilli(1700000000000L))
                            .build());
                }
                processor.processRecords(ProcessRecordsInput.builder()
                        .records(records)
                        .millisBehindLatest(0L)
                        .checkpointer(checkpointer)
                        .build());
                return true;
            case "leaseLost":
                processor.leaseLost(LeaseLostInput.builder().build());
                return true;
            case "shardEnded":
                processor.shardEnded(ShardEndedInput.builder().checkpointer(checkpointer).build());
                return true;
            case "shutdownRequested":
                processor.shutdownRequested(ShutdownRequestedInput.builder().checkpointer(checkpointer).build());
                return true;
            default:
                return false;
        }
    }

    private static void tried(String at) throws Exception {
        attempt(at);
        String wanted = error;
        if (wanted == null) {
            return;
        }
        switch (wanted) {
            case "ThrottlingException":
                throw new ThrottlingException(wanted);
            case "ShutdownException":
                throw new ShutdownException(wanted);
            case "InvalidStateException":
                throw new InvalidStateException(wanted);
            case "KinesisClientLibDependencyException":
                throw new KinesisClientLibDependencyException(wanted);
            default:
                throw new IllegalArgumentException(wanted);
        }
    }
}
