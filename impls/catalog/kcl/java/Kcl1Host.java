// A test program around MultiLangRecordProcessor of KCL 1.7.1, in its package because its parts are private to it.
package com.amazonaws.services.kinesis.multilang;

import com.amazonaws.services.kinesis.clientlibrary.exceptions.InvalidStateException;
import com.amazonaws.services.kinesis.clientlibrary.exceptions.KinesisClientLibDependencyException;
import com.amazonaws.services.kinesis.clientlibrary.exceptions.ShutdownException;
import com.amazonaws.services.kinesis.clientlibrary.exceptions.ThrottlingException;
import com.amazonaws.services.kinesis.clientlibrary.interfaces.IRecordProcessorCheckpointer;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.ShutdownReason;
import com.amazonaws.services.kinesis.model.Record;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.Executors;
import testee.Hosting;

public final class Kcl1Host extends Hosting implements IRecordProcessorCheckpointer {
    private MultiLangRecordProcessor processor;

    public static void main(String[] args) throws Exception {
        new Kcl1Host().serve();
    }

    @Override
    protected void start(ProcessBuilder child, String shardId) {
        processor = new MultiLangRecordProcessor(child, Executors.newCachedThreadPool(), new ObjectMapper()) {
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
                processor.initialize(given.path("shardId").asText());
                return true;
            case "processRecords":
                List<Record> records = new ArrayList<>();
                for (JsonNode record : given.path("records")) {
                    records.add(new Record()
                            .withData(ByteBuffer.wrap(octets(record.path("data_hex").asText())))
                            .withPartitionKey(record.path("partitionKey").asText())
                            .withSequenceNumber(record.path("sequenceNumber").asText())
                            .withApproximateArrivalTimestamp(new Date(1700000000000L)));
                }
                processor.processRecords(records, this);
                return true;
            case "shutdown":
                processor.shutdown(this, ShutdownReason.valueOf(given.path("reason").asText()));
                return true;
            default:
                return false;
        }
    }

    private void tried(String at)
            throws KinesisClientLibDependencyException, InvalidStateException, ThrottlingException, ShutdownException {
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

    @Override
    public void checkpoint()
            throws KinesisClientLibDependencyException, InvalidStateException, ThrottlingException, ShutdownException {
        tried(null);
    }

    @Override
    public void checkpoint(Record record)
            throws KinesisClientLibDependencyException, InvalidStateException, ThrottlingException, ShutdownException {
        tried(record.getSequenceNumber());
    }

    @Override
    public void checkpoint(String number)
            throws KinesisClientLibDependencyException, InvalidStateException, ThrottlingException, ShutdownException {
        tried(number);
    }

    @Override
    public void checkpoint(String number, long sub)
            throws KinesisClientLibDependencyException, InvalidStateException, ThrottlingException, ShutdownException {
        tried(number);
    }
}
