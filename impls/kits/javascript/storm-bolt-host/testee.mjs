// A host of Storm bolts, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Tell the events emit, ack, fail, log, error, failed and exited when they reach the collector of the
// host.
import { serve, Todo } from "./kit.mjs";

const ops = {
  // Have the library run child (its arguments, with env beside the environment) with conf and context.
  async start(given) {
    throw new Todo("start");
  },
  // Hand it the tuple id with comp, stream, task and tuple.
  async tuple(given) {
    throw new Todo("tuple");
  },
  // Set what the emits that follow get: ids.
  async task_ids(given) {
    throw new Todo("task_ids");
  },
};

await serve(ops, ["task_ids"]);
