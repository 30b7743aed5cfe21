// What every testee in JavaScript does, whatever library it is around. Copy this file beside your testee.mjs.
//
// Node 18 or newer, nothing else. The contract is docs/testees.md of Wireproof:
//
//   await serve({ connect(given) {...}, ... })   JSON objects on stdin, one a line; each is answered on stdout
//   await serveFilter(again)                     lines of hex on stdin, each answered by hex or by ERR and why
//   note, stepsOfRecord, run, ...                for user code that a library calls: bolts, spouts, record processors
import { appendFileSync } from "node:fs";

// Throw this for what the library does not offer: nothing was sent then, and nobody asks for it again.
export class Unsupported extends Error {}

// Stands in a template for what is still to be written.
export class Todo extends Error {
  constructor(what) {
    super(`still to be written in testee.mjs: ${what}`);
  }
}

// --- the loop --------------------------------------------------------------------------------------------------------

let write; // the real stdout, once a loop has begun: whatever else is printed goes to stderr

function begin() {
  write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (...told) => process.stderr.write(...told);
}

const say = (value) => write(JSON.stringify(value) + "\n");

// Tell what happened without being asked for, such as a checkpoint that a child wants.
export function event(name, members = {}) {
  say({ event: name, ...members });
}

// Lines of any length, in any pieces; a line feed ends each, and nothing else does.
async function* lines() {
  let parts = [];
  for await (const data of process.stdin) {
    let start = 0;
    for (let at; (at = data.indexOf(10, start)) >= 0; start = at + 1) {
      yield Buffer.concat([...parts, data.subarray(start, at)]).toString("utf8");
      parts = [];
    }
    if (start < data.length) parts.push(data.subarray(start));
  }
  if (parts.length) yield Buffer.concat(parts).toString("utf8");
}

const why = (error) => String(error?.message ?? error) || "it failed";

async function carryOut(ops, said) {
  let answer;
  try {
    if (!Object.hasOwn(ops, said.op)) throw new Unsupported();
    answer = JSON.stringify({ id: said.id, ok: (await ops[said.op](said)) ?? null });
  } catch (error) {
    answer = JSON.stringify({ id: said.id, error: error instanceof Unsupported ? "unsupported" : why(error) });
  }
  write(answer + "\n");
}

// Carry out what is said on stdin until it ends, one op after the other; those in `atOnce` do not wait for one that is
// still going on.
export async function serve(ops, atOnce = []) {
  begin();
  let last = Promise.resolve();
  for await (const line of lines()) {
    let said;
    try {
      said = JSON.parse(line);
    } catch {
      said = null;
    }
    if (typeof said?.op !== "string") {
      console.error(`no JSON object with an op: ${line.slice(0, 100)}`);
    } else if (atOnce.includes(said.op)) {
      await carryOut(ops, said);
    } else if (atOnce.length) {
      last = last.then(() => carryOut(ops, said));
    } else {
      await carryOut(ops, said);
    }
  }
  end();
}

// The end of stdin ends the testee, whatever the library still waits for; what was answered is written first.
function end() {
  write("", () => process.exit(0));
}

// Answer each line of hex by the hex of what `again` makes of its octets, or by ERR and why it failed.
export async function serveFilter(again) {
  begin();
  for await (const line of lines()) {
    let answer;
    try {
      const text = line.trim();
      if (!/^([0-9a-f]{2})*$/i.test(text)) throw new Error("no hex");
      answer = Buffer.from(await again(Buffer.from(text, "hex"))).toString("hex");
    } catch (error) {
      answer = `ERR ${error}`.replace(/[\r\n]/g, " ").slice(0, 300);
    }
    write(answer + "\n");
  }
  end();
}

// Host and port of HOST:PORT.
export function place(address) {
  const at = address.lastIndexOf(":");
  return [address.slice(0, at).replace(/[[\]]/g, ""), Number(address.slice(at + 1))];
}

// --- what a testee has to remember -----------------------------------------------------------------------------------

// Things by the texts that the suite calls them by.
export class Handles {
  #things = new Map();
  #count = 0;

  // A new handle.
  keep(thing, kind = "") {
    const handle = `${kind}${++this.#count}`;
    this.#things.set(handle, thing);
    return handle;
  }

  get(handle) {
    if (!this.#things.has(handle)) throw new Error(`there is no ${JSON.stringify(handle)}`);
    return this.#things.get(handle);
  }

  // What it stood for; it is no handle any more.
  drop(handle) {
    const found = this.get(handle);
    this.#things.delete(handle);
    return found;
  }
}

// What was heard of one connection: messages that wait for `receive`, and why it is over.
export class Inbox {
  messages = [];
  why = "";
  #waiting = new Set();

  // A message has come.
  put(message) {
    this.messages.push(message);
    this.wake();
  }

  // The connection is of no more use. The first reason counts.
  over(why) {
    this.why ||= why;
    this.wake();
  }

  wake() {
    for (const each of [...this.#waiting]) each();
  }

  // Throw when the connection is over.
  live() {
    if (this.why) throw new Error(this.why);
  }

  // Wait until `found` gives something, for so many ms; undefined when it did not. Throws when the connection is over.
  async until(found, ms) {
    const end = performance.now() + ms;
    for (;;) {
      const what = found();
      if (what !== undefined) return what;
      this.live();
      const left = end - performance.now();
      if (left <= 0) return undefined;
      await new Promise((wake) => {
        const done = () => {
          clearTimeout(timer);
          this.#waiting.delete(done);
          wake();
        };
        const timer = setTimeout(done, left);
        this.#waiting.add(done);
      });
    }
  }

  // The next message, null when there is none in time.
  async take(ms) {
    return (await this.until(() => this.messages.shift(), ms)) ?? null;
  }

  // What a promise of the library comes to, unless the connection ends first or it takes too long.
  async promised(promise, ms = 5000) {
    let settled;
    promise.then(
      (value) => this.wake((settled = [value])),
      (error) => this.wake((settled = [undefined, error ?? new Error("it failed")])),
    );
    const [value, error] = (await this.until(() => settled, ms)) ?? [undefined, new Error("it took too long")];
    if (error) throw error;
    return value;
  }
}

// --- user code that a library calls ----------------------------------------------------------------------------------

// Note down what user code saw, when a callback begins: before its first step, and before any answer.
export function note(call, seen = {}) {
  const name = process.env.WIREPROOF_OBSERVATIONS;
  if (name) appendFileSync(name, JSON.stringify({ call, ...seen }) + "\n");
}

// The octets of a record, for libraries that leave its base64 to user code.
export const decoded = (data) => Buffer.from(data ?? "", "base64");

const objects = (list) => list.filter((step) => step !== null && typeof step === "object" && !Array.isArray(step));

// The steps that a record of KCL carries; none for an ordinary one.
export function stepsOfRecord(data) {
  try {
    const steps = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data))?.wireproof;
    return Array.isArray(steps) ? objects(steps) : [];
  } catch {
    return [];
  }
}

// The steps that a tuple of Storm carries; null for an ordinary one, which is to be acked.
export function stepsOfTuple(values) {
  const scripted = values.length === 2 && values[0] === "wireproof" && Array.isArray(values[1]);
  return scripted ? objects(values[1]) : null;
}

// The steps that conf has for a spout's next, ack or fail; `nexts` were next before it.
export function stepsOfCommand(conf, command, nexts = 0) {
  if (command === "next") return conf["wireproof.script"]?.[nexts] ?? [];
  return conf[`wireproof.on_${command}`] ?? [];
}

// Do them, in order. `ops` are those that the library does: checkpoint, emit, ack, fail, log. Throws what they throw,
// and what the step `raise` asks for: the later steps are dropped then.
export async function run(steps, ops) {
  for (const step of steps) {
    if (Object.hasOwn(ops, step.op)) await ops[step.op](step);
    else if (step.op === "print") process.stdout.write(String(step.text));
    else if (step.op === "stderr") process.stderr.write(String(step.text));
    else if (step.op === "sleep") await new Promise((over) => setTimeout(over, step.ms ?? 0));
    else if (step.op === "raise") throw new Error("told to raise");
    else console.error(`unknown step ${JSON.stringify(step.op)}`);
  }
}
