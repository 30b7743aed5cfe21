// What the programs around Node libraries share: JSON lines in, JSON lines out (docs/implementations.md).
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

export const library = createRequire(new URL(".lib/node/any.js", import.meta.url));

export class Unsupported extends Error {}

// What was heard of one connection: messages that wait for `receive`, and why it is over.
export class Heard {
  messages = [];
  why = "";
  #waiting = new Set();

  message(message) {
    this.messages.push(message);
    this.wake();
  }

  over(why) {
    this.why ||= why;
    this.wake();
  }

  wake() {
    for (const each of [...this.#waiting]) each();
  }

  // Wait until `found` gives something, for so many ms. Undefined when it did not; an Error when the connection is over.
  async until(found, ms) {
    const end = performance.now() + ms;
    for (;;) {
      const what = found();
      if (what !== undefined) return what;
      if (this.why) throw new Error(this.why);
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

  async promised(promise) {
    let settled;
    promise.then(
      (value) => this.wake((settled = [value])),
      (error) => this.wake((settled = [undefined, error ?? new Error("it failed")])),
    );
    const [value, error] = (await this.until(() => settled, 5000)) ?? [undefined, new Error("it took too long")];
    if (error) throw error;
    return value;
  }

  live() {
    if (this.why) throw new Error(this.why);
  }

  receive(given) {
    return this.until(() => this.messages.shift(), given.timeout_ms).then((found) => found ?? null);
  }
}

// Carry out what is said on stdin, one op after the other, until it ends.
export async function serve(ops) {
  for await (const line of createInterface({ input: process.stdin })) {
    const said = JSON.parse(line);
    let answer;
    try {
      if (!Object.hasOwn(ops, said.op)) throw new Unsupported();
      answer = { ok: (await ops[said.op](said)) ?? null };
    } catch (error) {
      answer = { error: error instanceof Unsupported ? "unsupported" : String(error?.message ?? error) || "it failed" };
    }
    process.stdout.write(JSON.stringify({ id: said.id, ...answer }) + "\n");
  }
  process.exit(0);
}
