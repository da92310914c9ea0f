/** What `npm start` and doctor say about this machine before anything is made. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { preflight } from "../../tools/start/preflight.ts";

/** An empty home and cache, and these programs on PATH and no others; put back when the test ends. */
function machine(t: TestContext, programs: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "meshbench-preflight-"));
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
    rmSync(folder, { recursive: true, force: true });
  });
  for (const name of programs) {
    mkdirSync(join(folder, "bin"), { recursive: true });
    writeFileSync(join(folder, "bin", name), "#!/bin/sh\n");
    chmodSync(join(folder, "bin", name), 0o755);
  }
  for (const name of ["GOCACHE", "GOMODCACHE", "GOPATH"]) delete process.env[name];
  Object.assign(process.env, {
    PATH: join(folder, "bin"),
    HOME: join(folder, "home"),
    MESHBENCH_CACHE: join(folder, "cache"),
  });
  return folder;
}

const engine = (free: (folder: string) => number): string | undefined => new Map(preflight(free)).get("engine");

test("too little disk to build the engine on is said with Go on PATH and without: one is fetched then", (t) => {
  for (const programs of [["go"], []]) {
    const folder = machine(t, programs);
    assert.match(
      engine(() => 1.26e9) ?? "",
      /^Building the Pulumi engine takes 4 GB of disk and \S+ has 1\.3 GB free: make room, or put Pulumi 3\.\d+\.\d+ on PATH\.$/,
    );
    assert.match(
      engine((where) => (where === join(folder, "cache") ? 0 : 1e12)) ?? "",
      /and \S+\/cache has 0\.0 GB free/,
      "the cache may be on a disk of its own",
    );
    assert.equal(
      engine(() => 1e12),
      undefined,
    );
  }
});

test("folders that Go has not made yet are judged by the disk that they will be on", (t) => {
  const folder = machine(t, []);
  process.env["GOCACHE"] = join(folder, "not", "yet", "there");
  const asked: string[] = [];
  engine((where) => {
    asked.push(where);
    return 1e12;
  });
  assert.equal(asked[0], folder);
});

test("with a Pulumi on PATH nothing is built and no disk is needed for it", (t) => {
  machine(t, ["pulumi"]);
  assert.equal(
    engine(() => 0),
    undefined,
  );
});
