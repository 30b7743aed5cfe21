// A Pulsar client library, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Keep producers, consumers and messages as handles of the kit: what is answered stands for them in later
// ops.
import { serve, Todo } from "./kit.mjs";

const ops = {
  // Make a client for url; with the credentials auth_method and auth_data where they are given.
  async connect(given) {
    throw new Todo("connect");
  },
  // Make a producer for topic, called name if there is one; answer a handle.
  async producer(given) {
    throw new Todo("producer");
  },
  // Send payload_hex with key and properties by producer; answer the id of the message, as a text.
  async send(given) {
    throw new Todo("send");
  },
  // The same without waiting; answer a handle. Leave it unsupported where the library cannot.
  async send_async(given) {
    throw new Todo("send_async");
  },
  // Wait for what send_async gave this handle; answer the id of the message.
  async await(given) {
    throw new Todo("await");
  },
  // Subscribe to topic as subscription, of the type Exclusive, Shared or Failover, with permits; answer a handle.
  async subscribe(given) {
    throw new Todo("subscribe");
  },
  // Wait timeout_ms for a message of consumer: ref, payload_hex, key and properties; or null when none came.
  async receive(given) {
    throw new Todo("receive");
  },
  // Acknowledge the message ref of consumer; with cumulative, all up to it.
  async ack(given) {
    throw new Todo("ack");
  },
  // Have consumer ask for what is not acknowledged.
  async redeliver(given) {
    throw new Todo("redeliver");
  },
  // Close producer, or consumer.
  async close(given) {
    throw new Todo("close");
  },
  // Close the client.
  async disconnect(given) {
    throw new Todo("disconnect");
  },
};

await serve(ops);
