// A MessagePack codec as a filter: node msgpack_filter.mjs LIBRARY
// One line of hex in, the hex of what was decoded and encoded again out, or ERR and why.
// LIBRARY is @msgpack/msgpack, msgpackr or notepack.io, found from the folder that WIREPROOF_NODE names.
import { createRequire } from "node:module";
import { serveFilter } from "../kits/javascript/kit.mjs";

const name = process.argv[2];
const require = createRequire((process.env.WIREPROOF_NODE ?? process.cwd()) + "/");
const library = require(name);
const codecs = {
  "@msgpack/msgpack": () => [
    (octets) => library.decode(octets, { useBigInt64: true, mapKeyConverter: undefined }),
    (value) => library.encode(value, { useBigInt64: true }),
  ],
  msgpackr: () => {
    const packr = new library.Packr({ useRecords: false, mapsAsObjects: false, int64AsType: "bigint" });
    return [(octets) => packr.unpack(octets), (value) => packr.pack(value)];
  },
  "notepack.io": () => [(octets) => library.decode(octets), (value) => library.encode(value)],
};
const [decode, encode] = codecs[name]();

await serveFilter((octets) => encode(decode(octets)));
