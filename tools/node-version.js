// Plain JavaScript on purpose: an older Node must be able to read it in order to say that it is too old.

/** What every entry says on a Node that is too old; undefined on one that will do. `version` as process.version. */
export function nodeProblem(version) {
  const major = Number(/^v?(\d+)\./.exec(version)?.[1] ?? 0);
  return major >= 24
    ? undefined
    : `Node: ${version || "none that starts"}; expected 24 or later: run npm ci, which brings it on Linux x86-64, and call meshbench through npm or npx, or install Node 24`;
}

/** Ends the process with that sentence where Node is too old. */
export function requireNode() {
  const problem = nodeProblem(process.version);
  if (problem === undefined) return;
  console.error(problem);
  process.exit(1);
}
