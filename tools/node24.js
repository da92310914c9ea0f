// node tools/node24.js <program.ts> [arguments]: runs it, or says that this Node is too old to.
// Plain JavaScript on purpose: an older Node must be able to read it.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [major] = process.versions.node.split(".").map(Number);
if (major < 24) {
  console.error(
    `This needs Node 24 or newer and runs on ${process.version}: run npm ci, which brings Node 24 on Linux x86-64, ` +
      "and call it through npm; on another machine install Node 24.",
  );
  process.exit(1);
}
const program = resolve(process.argv[2]);
process.argv.splice(1, 2, program);
await import(pathToFileURL(program).href);
