// A host of KCL record processors, told what to do. Write what is still to be written; `wireproof check` says what
// is missing. Tell the event checkpoint with `at` when a checkpoint reaches the checkpointer, and failed with `why`
// when a callback ends otherwise.
import { serve, Todo } from "./kit.mjs";

const ops = {
  // Have the library run child (its arguments, with env beside the environment) for the shard shardId.
  async start(given) {
    throw new Todo("start");
  },
  // Have it initialize the child for shardId; answer when that callback is over, as for each of these.
  async initialize(given) {
    throw new Todo("initialize");
  },
  // Hand it records, each with data_hex, partitionKey and sequenceNumber.
  async processRecords(given) {
    throw new Todo("processRecords");
  },
  // Have it end the child for reason. In newer releases: the three that follow, and this one is unsupported.
  async shutdown(given) {
    throw new Todo("shutdown");
  },
  // Tell it that the lease is lost.
  async leaseLost(given) {
    throw new Todo("leaseLost");
  },
  // Tell it that the shard has ended.
  async shardEnded(given) {
    throw new Todo("shardEnded");
  },
  // Tell it that a shutdown is requested.
  async shutdownRequested(given) {
    throw new Todo("shutdownRequested");
  },
  // Set what the next checkpoints meet: the name of an error, or null.
  async checkpointer(given) {
    throw new Todo("checkpointer");
  },
};

await serve(ops, ["checkpointer"]);
