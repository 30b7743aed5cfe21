// A STOMP client library, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Give what the library hears to an inbox of the kit: messages, receipts, and why the connection is over.
import { serve, Todo } from "./kit.mjs";

const ops = {
  // Open a connection to address (HOST:PORT), offering versions, host, login, passcode, heart_beat; answer when the
  // library is connected.
  async connect(given) {
    throw new Todo("connect");
  },
  // Send the octets of body_hex to destination with headers, in transaction if there is one; with receipt, answer
  // when the RECEIPT has come.
  async send(given) {
    throw new Todo("send");
  },
  // Subscribe to destination in the mode ack; later ops call the subscription sub.
  async subscribe(given) {
    throw new Todo("subscribe");
  },
  // End the subscription sub.
  async unsubscribe(given) {
    throw new Todo("unsubscribe");
  },
  // Acknowledge the message that receive gave this ref, in transaction if there is one.
  async ack(given) {
    throw new Todo("ack");
  },
  // Refuse the message that receive gave this ref.
  async nack(given) {
    throw new Todo("nack");
  },
  // Begin a transaction that is called transaction.
  async begin(given) {
    throw new Todo("begin");
  },
  // Commit that transaction.
  async commit(given) {
    throw new Todo("commit");
  },
  // Abort that transaction.
  async abort(given) {
    throw new Todo("abort");
  },
  // Wait timeout_ms for a message of any subscription: ref, headers, body_hex and sub; or null when none came.
  async receive(given) {
    throw new Todo("receive");
  },
  // End the session as the library does that.
  async disconnect(given) {
    throw new Todo("disconnect");
  },
};

await serve(ops);
