// A program around stompit: told by JSON lines, it calls the library.
import { Inbox, place, serve, Unsupported } from "../../kits/javascript/kit.mjs";
import { library } from "./told.mjs";

const stompit = library("stompit");

let client = null;
let heard = new Inbox();
heard.over("not connected");
let open = {};

// Options that ask for a receipt, and a promise of it; the library makes the id.
function receipt(given) {
  if (!given.receipt) return [undefined, Promise.resolve()];
  let came;
  const promise = new Promise((come) => (came = come));
  return [{ onReceipt: () => came(true) }, promise];
}

async function call(given, work) {
  heard.live();
  const [options, came] = receipt(given);
  await heard.promised(Promise.resolve(work(options)));
  await heard.promised(came);
  return true;
}

const called = (work) =>
  new Promise((come, fail) => work((error) => (error ? fail(error) : come(true))));

async function settle(given, what) {
  const message = open.refs[given.ref];
  const headers = given.transaction ? { transaction: open.transactions[given.transaction].id } : {};
  return call(given, (options) => called((done) => client[what](message, headers, options, done)));
}

await serve({
  async connect(given) {
    if (client) client.destroy();
    const [host, port] = place(given.address);
    const mine = (heard = new Inbox());
    open = { refs: {}, subs: {}, transactions: {}, seen: 0 };
    const connectHeaders = { "accept-version": given.versions.join(","), host: given.host };
    if (given.login != null) connectHeaders.login = given.login;
    if (given.passcode != null) connectHeaders.passcode = given.passcode;
    connectHeaders["heart-beat"] = (given.heart_beat ?? [0, 0]).join(",");
    client = await mine.promised(
      new Promise((come, fail) =>
        stompit.connect({ host, port, connectHeaders }, (error, made) => (error ? fail(error) : come(made))),
      ),
    );
    client.on("error", (error) => mine.over(error.message || "the connection failed"));
    client.on("end", () => mine.over("disconnected"));
    client.on("close", () => mine.over("the connection has ended"));
    return true;
  },
  send(given) {
    return call(given, (options) => {
      const headers = { ...(given.headers ?? {}), destination: given.destination };
      const sender = given.transaction ? open.transactions[given.transaction] : client;
      const frame = sender.send(headers, options);
      return called((done) => frame.end(Buffer.from(given.body_hex, "hex"), done));
    });
  },
  async subscribe(given) {
    if (given.receipt) throw new Unsupported();
    heard.live();
    const mine = heard;
    const state = open;
    const headers = { destination: given.destination, id: given.sub, ack: given.ack ?? "auto" };
    open.subs[given.sub] = client.subscribe(headers, (error, message) => {
      if (error) return mine.over(error.message);
      const parts = [];
      message.on("error", (error) => mine.over(error.message));
      message.on("data", (part) => parts.push(part));
      message.on("end", () => {
        const ref = String(++state.seen);
        state.refs[ref] = message;
        const body_hex = Buffer.concat(parts).toString("hex");
        // The library gives a content-length as a number
        const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]));
        mine.put({ ref, headers, body_hex, sub: given.sub });
      });
    });
    return true;
  },
  async unsubscribe(given) {
    if (given.receipt) throw new Unsupported();
    heard.live();
    open.subs[given.sub].unsubscribe();
    return true;
  },
  ack: (given) => settle(given, "ack"),
  nack: (given) => settle(given, "nack"),
  async begin(given) {
    if (given.receipt) throw new Unsupported();
    heard.live();
    open.transactions[given.transaction] = client.begin(given.transaction);
    return true;
  },
  commit: (given) => call(given, (options) => open.transactions[given.transaction].commit(options)),
  abort: (given) => call(given, (options) => open.transactions[given.transaction].abort(options)),
  receive: (given) => heard.take(given.timeout_ms),
  async disconnect() {
    if (!client || heard.why) return true;
    await heard.promised(called((done) => client.disconnect(done))).catch((error) => {
      if (error.message !== "disconnected") throw error;
    });
    return true;
  },
});
