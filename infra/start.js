// Plain JavaScript on purpose: an older Node must be able to read it in order to say that it is too old.
const [major] = process.versions.node.split(".").map(Number);

/** Pulumi awaits a function that is the default export and takes what it returns as the stack's outputs. */
export default async function program() {
  if (major < 24) {
    const { RunError } = await import("@pulumi/pulumi");
    throw new RunError(
      `meshbench runs on Node 24 or later, this is ${process.version}: put node_modules/.bin first in PATH ` +
        "(npm ci brings a Node 24 there on Linux), or call `npm run pulumi -- <command>`, which does so",
    );
  }
  const { topology } = await import("./index.ts");
  return topology();
}
