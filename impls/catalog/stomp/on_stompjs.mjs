// A program around @stomp/stompjs over TCP: told by JSON lines, it calls the library.
import { Inbox, place, serve, Unsupported } from "../../kits/javascript/kit.mjs";
import { library } from "./told.mjs";

const { Client, Versions } = library("@stomp/stompjs");
const { TCPWrapper } = await import(library.resolve("@stomp/tcp-wrapper"));

let client = null;
let heard = new Inbox();
heard.over("not connected");
let open = {};
let version = "1.2";
let receipts = 0;

// Headers that ask for a receipt, and a promise of it; the library takes the id from its user.
function receipt(given) {
  if (!given.receipt) return [{}, Promise.resolve()];
  const id = typeof given.receipt === "string" ? given.receipt : `r-${++receipts}`;
  return [{ receipt: id }, new Promise((come) => client.watchForReceipt(id, () => come()))];
}

async function call(given, work) {
  heard.live();
  const [headers, came] = receipt(given);
  work(headers);
  await heard.promised(came);
  return true;
}

function settle(given, what) {
  const message = open.refs[given.ref];
  return call(given, (headers) =>
    message[what](given.transaction ? { ...headers, transaction: given.transaction } : headers),
  );
}

await serve({
  async connect(given) {
    if (client) client.deactivate({ force: true });
    const [host, port] = place(given.address);
    const mine = (heard = new Inbox());
    open = { refs: {}, subs: {}, seen: 0 };
    const connectHeaders = { host: given.host };
    if (given.login != null) connectHeaders.login = given.login;
    if (given.passcode != null) connectHeaders.passcode = given.passcode;
    const [outgoing, incoming] = given.heart_beat ?? [0, 0];
    await mine.promised(
      new Promise((come, fail) => {
        client = new Client({
          webSocketFactory: () => new TCPWrapper(host, port),
          connectHeaders,
          stompVersions: new Versions(given.versions),
          heartbeatOutgoing: outgoing,
          heartbeatIncoming: incoming,
          reconnectDelay: 0,
          onConnect: () => come(true),
          onStompError: (frame) => {
            mine.over(`ERROR: ${frame.headers.message ?? ""}`);
            fail(new Error(mine.why));
          },
          onWebSocketError: () => mine.over("the connection failed"),
          onWebSocketClose: () => mine.over("the connection has ended"),
        });
        client.activate();
      }),
    );
    version = client.connectedVersion;
    return { version };
  },
  send(given) {
    return call(given, (more) => {
      const headers = { ...(given.headers ?? {}), ...more };
      if (given.transaction) headers.transaction = given.transaction;
      client.publish({ destination: given.destination, headers, binaryBody: Buffer.from(given.body_hex, "hex") });
    });
  },
  subscribe(given) {
    const { refs } = open;
    const mine = heard;
    const state = open;
    return call(given, (more) => {
      const headers = { ...more, id: given.sub, ack: given.ack ?? "auto" };
      open.subs[given.sub] = client.subscribe(
        given.destination,
        (message) => {
          const ref = String(++state.seen);
          refs[ref] = message;
          const body_hex = Buffer.from(message.binaryBody).toString("hex");
          mine.put({ ref, headers: message.headers, body_hex, sub: given.sub });
        },
        headers,
      );
    });
  },
  unsubscribe: (given) => call(given, (headers) => open.subs[given.sub].unsubscribe(headers)),
  ack: (given) => settle(given, "ack"),
  nack(given) {
    if (version === "1.0") throw new Unsupported();
    return settle(given, "nack");
  },
  begin(given) {
    if (given.receipt) throw new Unsupported();
    return call(given, () => client.begin(given.transaction));
  },
  commit(given) {
    if (given.receipt) throw new Unsupported();
    return call(given, () => client.commit(given.transaction));
  },
  abort(given) {
    if (given.receipt) throw new Unsupported();
    return call(given, () => client.abort(given.transaction));
  },
  receive: (given) => heard.take(given.timeout_ms),
  async disconnect() {
    if (client) await client.deactivate();
    return true;
  },
});
