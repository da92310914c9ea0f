// node tools/node24.js <program.ts> [arguments]: runs it, or says that this Node is too old to.
// Plain JavaScript on purpose: an older Node must be able to read it.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { requireNode } from "./node-version.js";

requireNode();
const program = resolve(process.argv[2]);
process.argv.splice(1, 2, program);
await import(pathToFileURL(program).href);
