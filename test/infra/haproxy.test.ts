/** HAProxy's own judgement on the rendered file, and the health check against a stand-in for the database client. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { ensurePackages, type Packages } from "../../harness/servers/debian.ts";
import { GALERA_CHECK } from "../../infra/databases/galera-check.ts";
import { FILES } from "./texts.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-haproxy-"));
after(() => rmSync(dir, { recursive: true, force: true }));
let packages: Packages;
before(async () => {
  packages = await ensurePackages(["haproxy"]);
});

function judge(t: TestContext, conf: string): ReturnType<typeof spawnSync> | undefined {
  if (!packages.ok) {
    t.skip(`haproxy cannot be had: ${packages.reason}`);
    return undefined;
  }
  const path = join(dir, "test.cfg");
  writeFileSync(path, conf);
  return spawnSync("haproxy", ["-c", "-f", path], { encoding: "utf8" });
}

for (const name of ["haproxy.cfg", "haproxy-standalone.cfg", "haproxy-roles.cfg", "haproxy-roles-any.cfg"]) {
  test(`haproxy takes ${name} without a warning`, (t) => {
    const judged = judge(t, FILES[name]!);
    if (!judged) return;
    assert.equal(judged.status, 0, String(judged.stderr));
    assert.doesNotMatch(`${judged.stdout}${judged.stderr}`, /WARNING|ALERT/);
  });
}

test("and refuses one with a mistake, so that the judgement above means something", (t) => {
  const judged = judge(t, FILES["haproxy.cfg"]!.replace("mode tcp", "mode tpc"));
  if (judged) assert.notEqual(judged.status, 0);
});

/** The check's answer when the client prints this; undefined: the client fails. */
function answer(state: string | undefined): { status: string; headers: string; body: string; length: number } {
  writeFileSync(
    join(dir, "mariadb"),
    state === undefined ? "#!/bin/bash\nexit 1\n" : `#!/bin/bash\necho "${state}"\n`,
    { mode: 0o755 },
  );
  const ran = spawnSync("bash", ["-c", GALERA_CHECK], {
    input: "GET / HTTP/1.0\r\n\r\n",
    encoding: "utf8",
    env: { ...process.env, PATH: `${dir}:${process.env["PATH"]}` },
  });
  const [head = "", body = ""] = ran.stdout.split("\r\n\r\n");
  return {
    status: head.split("\r\n")[0]!,
    headers: head,
    body,
    length: Number(/Content-Length: (\d+)/.exec(head)?.[1]),
  };
}

test("only a node that is Synced, or a donor that serves on, ready and in the primary component is in service", () => {
  const good = answer("Synced ON Primary");
  assert.equal(good.status, "HTTP/1.0 200 OK");
  assert.equal(good.length, Buffer.byteLength(good.body));
  for (const state of ["Synced ON Primary serves as donor", "Donor/Desynced ON Primary serves as donor"])
    assert.equal(answer(state).status, "HTTP/1.0 200 OK", state);
  for (const state of [
    "Donor/Desynced ON Primary",
    "Donor/Desynced OFF Primary serves as donor",
    "Donor/Desynced ON non-Primary serves as donor",
    "Joined ON Primary serves as donor",
    "Synced OFF Primary",
    "Synced ON non-Primary",
    "Joined ON Primary",
    "Initialized OFF Disconnected",
    "",
    undefined,
  ]) {
    const bad = answer(state);
    assert.equal(bad.status, "HTTP/1.0 503 Service Unavailable", String(state));
    assert.equal(bad.length, Buffer.byteLength(bad.body), String(state));
  }
});
