// A record processor on aws-kcl for Node, scripted as the Python ones are. The steps and the notes are those of the kit.
import { createRequire } from "node:module";
import { decoded, note, run, stepsOfRecord } from "../../kits/javascript/kit.mjs";

const kcl = createRequire(import.meta.url)("aws-kcl");

// Ask for a checkpoint and note down what became of it.
function checkpoint(checkpointer, at) {
  return new Promise((done) => {
    const told = (error) => {
      note("checkpoint", { at, error: error || null });
      done();
    };
    if (at === null) checkpointer.checkpoint(told);
    else checkpointer.checkpoint(at, told);
  });
}

// What raises in user code ends the process, as an exception that nobody catches does.
const ends = (promise) => promise.catch((error) => process.nextTick(() => { throw error; }));

kcl({
  initialize(input, done) {
    note("initialize", { shardId: input.shardId });
    done();
  },
  processRecords(input, done) {
    const records = input.records.map((r) => ({ ...r, data: decoded(r.data) }));
    const seen = records.map(({ data, partitionKey, sequenceNumber }) => ({
      data_hex: data.toString("hex"), partitionKey, sequenceNumber,
    }));
    note("processRecords", { records: seen });
    const steps = records.flatMap((r) => stepsOfRecord(r.data));
    ends(run(steps, { checkpoint: (step) => checkpoint(input.checkpointer, step.at) }).then(() => done()));
  },
  leaseLost(input, done) {
    note("leaseLost");
    done();
  },
  shardEnded(input, done) {
    note("shardEnded");
    ends(checkpoint(input.checkpointer, null).then(() => done()));
  },
  shutdownRequested(input, done) {
    note("shutdownRequested");
    done();
  },
}).run();
