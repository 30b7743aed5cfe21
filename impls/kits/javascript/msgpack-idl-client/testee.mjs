// A client that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
// `wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md.
import { serve, Todo } from "./kit.mjs";

const ops = {
  // Make a client of the application app of the document idl, and connect it to address.
  async connect(given) {
    throw new Todo("connect");
  },
  // Call fn of the version in scope with args; answer its result, or the exception that was caught.
  async call(given) {
    throw new Todo("call");
  },
  // Close the connection.
  async disconnect(given) {
    throw new Todo("disconnect");
  },
};

await serve(ops);
