#!/usr/bin/env node
// Plain JavaScript on purpose: an older Node must be able to read it in order to say that it is too old.
const [major] = process.versions.node.split(".").map(Number);
if (major < 24) {
  console.error(
    `meshbench runs on Node 24 or later, this is ${process.version}. \`npm ci\` brings one on Linux: call \`npx meshbench\` or put node_modules/.bin first in PATH.`,
  );
  process.exit(1);
}
await import("./main.ts");
