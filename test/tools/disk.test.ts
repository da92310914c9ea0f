/** One figure for the disk that `npm start` needs, wherever it is spoken of. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkout } from "../../tools/paths.ts";
import { ENGINE_GB, NODES_GB, START_GB } from "../../tools/start/disk.ts";

test("README, help and the lab's own check say the same", () => {
  const readme = readFileSync(join(checkout, "README.md"), "utf8");
  assert.match(readme, new RegExp(`about ${START_GB} GB of disk, ${ENGINE_GB} of them for building Pulumi`));
  const help = spawnSync(process.execPath, [join(checkout, "tools/start/start.ts"), "--help"], {
    encoding: "utf8",
  }).stdout;
  assert.match(help, new RegExp(`about ${START_GB} GB of disk, ${NODES_GB} where\\s+Pulumi is there`));
  const check = readFileSync(join(checkout, "lab/check.ts"), "utf8");
  assert.match(check, new RegExp(`FREE_BYTES = ${NODES_GB}e9;`), "the lab stands apart and has its own constant");
});
