// A MessagePack-RPC client library, told what to do. Write what is still to be written; `wireproof check` says what
// is missing. Params and results travel as MessagePack in hex.
import { serve, Todo } from "./kit.mjs";

const ops = {
  // Open a connection to address (HOST:PORT).
  async connect(given) {
    throw new Todo("connect");
  },
  // Call method with the array params_hex; answer result_hex, or error_hex when the call has failed.
  async call(given) {
    throw new Todo("call");
  },
  // The same without waiting; answer a handle. Leave it unsupported where the library cannot.
  async call_async(given) {
    throw new Todo("call_async");
  },
  // Wait for the call that has this handle; answer as call does.
  async await(given) {
    throw new Todo("await");
  },
  // Send the notification method with params_hex.
  async notify(given) {
    throw new Todo("notify");
  },
  // Close the connection.
  async disconnect(given) {
    throw new Todo("disconnect");
  },
};

await serve(ops);
