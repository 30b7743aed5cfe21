// A server that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
// `wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md.
import { serve, Todo } from "./kit.mjs";

const ops = {
  // Serve the application of the document idl with the behaviour of its slots; answer the port on 127.0.0.1.
  async serve(given) {
    throw new Todo("serve");
  },
  // Give the slot another behaviour while it serves.
  async assign(given) {
    throw new Todo("assign");
  },
  // Stop serving.
  async stop(given) {
    throw new Todo("stop");
  },
};

await serve(ops);
