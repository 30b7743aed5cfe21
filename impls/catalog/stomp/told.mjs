// Where the programs around Node libraries find them: what setup.sh has fetched.
import { createRequire } from "node:module";

export const library = createRequire(new URL(".lib/node/any.js", import.meta.url));
