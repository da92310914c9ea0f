/** The ports that a member needs are tried before its server starts: what is in between is told from who does not listen. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { portsScript } from "../../../infra/databases/galera-scripts.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-ports-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const command = (name: string, body: string): void =>
  writeFileSync(join(dir, name), `#!/bin/bash\n${body}\n`, { mode: 0o755 });

/** `reply` is what a connection comes to, on the port that $port holds. */
function run(peers: string[], answersPings: boolean, reply: string): { code: number | null; stderr: string } {
  command("hostname", "echo a");
  command("ping", `exit ${answersPings ? 0 : 1}`);
  command("timeout", `all="$*"; port="\${all##*/}"; ${reply}`);
  const { status, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", portsScript(peers)], {
    encoding: "utf8",
    // With a socket as its input bash takes itself for rshd's and reads ~/.bashrc.
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${dir}:${process.env["PATH"]}` },
  });
  return { code: status, stderr };
}
const REFUSED = "echo connect: Connection refused >&2; exit 1";
const DROPPED = "exit 124";

test("a server that is not there, or that is, is no firewall", () => {
  assert.deepEqual(run(["10.99.0.2"], true, REFUSED), { code: 0, stderr: "" });
  assert.deepEqual(run(["10.99.0.2"], true, "exit 0"), { code: 0, stderr: "" });
  assert.deepEqual(run([], true, DROPPED), { code: 0, stderr: "" }, "nobody to try");
  assert.deepEqual(
    run(["10.99.0.2"], false, DROPPED),
    { code: 0, stderr: "" },
    "a node that is down is the mesh's matter",
  );
});

test("a port that something in between closes is named with both ends", () => {
  for (const closed of [DROPPED, "echo connect: No route to host >&2; exit 1"])
    assert.deepEqual(run(["10.99.0.2"], true, `if [ "$port" = 4567 ]; then ${closed}; fi; ${REFUSED}`), {
      code: 1,
      stderr:
        "database: 10.99.0.2 answers pings of a, but its TCP port 4567 does not; Galera needs 4567, 4568, 4444 open between all database nodes (is there a firewall?)\n",
    });
});
