/** `npm test` that is ended ends what it started. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { isRunning } from "../../tools/processes.ts";

test("SIGTERM in the middle of a test: neither the test nor its children go on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meshbench-stopped-"));
  const [file, pids] = [join(folder, "long.test.mjs"), join(folder, "pids")];
  writeFileSync(
    file,
    `import { spawn } from "node:child_process"; import { writeFileSync } from "node:fs"; import { test } from "node:test";
test("long", async () => {
  const child = spawn("sleep", ["120"]);
  writeFileSync(${JSON.stringify(pids)}, process.pid + " " + child.pid);
  await new Promise((resolve) => child.once("exit", resolve));
});\n`,
  );
  const run = spawn(nodeBinary(), [join(checkout, "tools/test.ts"), "unit", file], {
    cwd: checkout,
    stdio: "ignore",
    // Set by the runner that runs this very test; a runner under it would not run files of its own.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  });
  try {
    for (let i = 0; !existsSync(pids) && i < 600; i++) await sleep(50);
    await sleep(50);
    const started = readFileSync(pids, "utf8").split(" ").map(Number);
    const ended = once(run, "exit");
    run.kill("SIGTERM");
    assert.deepEqual((await ended)[0], 143);
    assert.deepEqual(started.filter(isRunning), []);
  } finally {
    run.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});
