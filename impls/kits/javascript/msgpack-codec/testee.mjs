// A MessagePack codec, told what to do. Write what is still to be written; `wireproof check` says what is missing.
// It is a filter: lines of hex in, lines of hex out.
import { serveFilter, Todo } from "./kit.mjs";

// Decode octets that are one value, encode it again, and give the octets; throw for what is refused.
function again(octets) {
  throw new Todo("again");
}

await serveFilter(again);
