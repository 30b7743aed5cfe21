// A host of Storm spouts, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Tell the events emit, log, sync, error, failed and exited when they reach the collector of the host.
import { serve, Todo } from "./kit.mjs";

const ops = {
  // Have the library run child (its arguments, with env beside the environment) with conf and context.
  async start(given) {
    throw new Todo("start");
  },
  // Ask it for the next tuple.
  async next(given) {
    throw new Todo("next");
  },
  // Tell it that the emit id was acked.
  async ack(given) {
    throw new Todo("ack");
  },
  // Tell it that the emit id has failed.
  async fail(given) {
    throw new Todo("fail");
  },
  // Set what the emits that follow get: ids.
  async task_ids(given) {
    throw new Todo("task_ids");
  },
};

await serve(ops, ["task_ids"]);
