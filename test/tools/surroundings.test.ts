/** A machine that lacks what one takes for granted: hard links, a home folder, the right passphrase. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createWhole } from "../../tools/exclusive.ts";
import { withLock } from "../../tools/lock.ts";
import { nodeProblem } from "../../tools/node-version.js";
import { fits, passphraseProblem } from "../../tools/passphrase.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { type Project, stackName, stateFile } from "../../tools/project.ts";

const dir = mkdtempSync(join(tmpdir(), "meshbench-around-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const noLinks = (): never => {
  throw Object.assign(new Error("link"), { code: "EOPNOTSUPP" });
};

test("without hard links a lock is held by one at a time, and one of a process that is gone is taken over", async () => {
  const file = join(dir, "lock");
  let inside = 0,
    most = 0,
    done = 0;
  const one = (): Promise<void> =>
    withLock(
      file,
      async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 20));
        inside--;
        done++;
      },
      () => {},
      noLinks,
    );
  await Promise.all([one(), one(), one()]);
  assert.deepEqual([most, done, existsSync(file)], [1, 3, false]);
  writeFileSync(file, "999999999");
  await one();
  assert.equal(done, 4);
  assert.equal(createWhole(join(dir, "once"), "a", 0o600, noLinks), true);
  assert.equal(createWhole(join(dir, "once"), "b", 0o600, noLinks), false);
  assert.equal(readFileSync(join(dir, "once"), "utf8"), "a");
});

test("every entry says the same of a Node that is too old", () => {
  assert.equal(nodeProblem("v24.0.0"), undefined);
  assert.match(nodeProblem("v20.20.2")!, /^Node: v20\.20\.2; expected 24 or later: run npm ci/);
  for (const entry of ["cli/bin.js", "tools/node24.js"])
    assert.match(readFileSync(join(checkout, entry), "utf8"), /^requireNode\(\);$/m, entry);
});

test("a stack's full name stands for the same files", () => {
  const project = { state: dir, name: "meshbench" } as Project;
  for (const name of ["local", "organization/local", "organization/meshbench/local"]) {
    assert.equal(stackName(name), "local");
    assert.equal(stateFile(project, name), join(dir, ".pulumi/stacks/meshbench/local.json"));
  }
});

/** Made by Pulumi 3.276.0 with the passphrase "correct horse". */
const SALT = "v1:UcXusdCTNrA=:v1:ahpDEXUAeRLJmOCi:jmC4VYkXyo/VUgGnNmpodzxN577Vlw==";

test("a passphrase that is not the stack's is named, with the one that is", () => {
  assert.equal(fits("correct horse", SALT), true);
  assert.equal(fits("incorrect horse", SALT), false);
  const work = join(dir, "work");
  mkdirSync(work);
  writeFileSync(join(work, "Pulumi.local.yaml"), `encryptionsalt: ${SALT}\n`);
  const project = { work, private: dir, state: dir } as Project;
  const said = (environment: NodeJS.ProcessEnv) =>
    passphraseProblem(project, "organization/meshbench/local", environment);
  assert.equal(said({ PULUMI_CONFIG_PASSPHRASE: "correct horse" }), undefined);
  assert.match(
    said({ PULUMI_CONFIG_PASSPHRASE: "mine" })!,
    /: PULUMI_CONFIG_PASSPHRASE; expected the one that encrypted it/,
  );
  writeFileSync(join(dir, "passphrase"), "correct horse");
  assert.equal(said({}), undefined);
  assert.match(
    said({ PULUMI_CONFIG_PASSPHRASE: "mine" })!,
    /expected the generated one, \.meshbench\/passphrase, .*unset PULUMI_CONFIG_PASSPHRASE/,
  );
  writeFileSync(join(dir, "passphrase"), "another");
  assert.match(said({})!, /: the generated one, \.meshbench\/passphrase; expected the one that encrypted it: set /);
});

test("a user without a home folder gets doctor's lines, not a trace", {
  skip: process.getuid?.() === 0 && spawnSync("setpriv", ["--version"]).status === 0 ? false : "needs root and setpriv",
}, () => {
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (const name of ["HOME", "PULUMI_HOME", "MESHBENCH_CACHE"]) delete env[name];
  chmodSync(dir, 0o755);
  const script = `import("${join(checkout, "tools/start/preflight.ts")}").then(({ preflight }) => console.log(JSON.stringify(preflight())))`;
  const ran = spawnSync(
    "setpriv",
    ["--reuid", "54321", "--regid", "54321", "--clear-groups", nodeBinary(), "-e", script],
    { cwd: dir, env, encoding: "utf8", timeout: 60_000 },
  );
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /HOME: not set, and this user has no home folder; .* set HOME or MESHBENCH_CACHE/);
});
