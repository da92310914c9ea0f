import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isEnough } from "../../tools/engine/engine.ts";
import { withLock } from "../../tools/lock.ts";
import { lockFolder, type Project } from "../../tools/project.ts";
import { clearStaleLocks, type Deployment, settle } from "../../tools/start/recover.ts";

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "meshbench-recover-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function projectIn(folder: string): Project {
  return { name: "p", root: folder, private: folder, work: folder, state: join(folder, "state"), env: {} };
}

/** An id that no process has: beyond the largest the kernel gives out. */
const noProcess = 2 ** 22 + 1;

test("only locks of dead processes of this host are removed", (t) => {
  const project = projectIn(scratch(t));
  const folder = lockFolder(project, "s") ?? "";
  mkdirSync(folder, { recursive: true });
  const lock = (name: string, content: object | string) =>
    writeFileSync(join(folder, `${name}.json`), typeof content === "string" ? content : JSON.stringify(content));
  lock("dead", { pid: noProcess, hostname: hostname() });
  lock("reused", { pid: process.pid, hostname: hostname() }); // this process is no Pulumi
  lock("elsewhere", { pid: noProcess, hostname: "another-host" });
  lock("cutoff", '{"pid": 12');
  const said: string[] = [];
  clearStaleLocks(project, "s", (line) => said.push(line));
  assert.deepEqual(readdirSync(folder), ["elsewhere.json"]);
  assert.equal(said.length, 3);
  assert.match(said.join("\n"), new RegExp(`process ${noProcess}, no longer there`));
});

const urn = (type: string, name: string) => `urn:pulumi:s::p::${type}::${name}`;
const command = (name: string, inputs: Record<string, unknown>) => ({
  urn: urn("command:local:Command", name),
  type: "command:local:Command",
  custom: true,
  inputs,
});

function exported(operations: Deployment["deployment"]["pending_operations"]): Deployment {
  return {
    version: 3,
    deployment: { resources: [{ ...command("made", {}), id: "1" }], pending_operations: operations ?? null },
  };
}

test("half-done creates are dropped before a run that creates them again", () => {
  const { deployment, adopted, unknown } = settle(
    exported([{ type: "creating", resource: command("new", { delete: "rm x" }) }]),
    false,
  );
  assert.deepEqual(deployment.deployment.pending_operations, []);
  assert.equal(deployment.deployment.resources?.length, 1);
  assert.deepEqual([adopted, unknown], [[], []]);
});

test("before a destroy they are listed, so that their delete command runs", () => {
  const ciphertext = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
  const { deployment, adopted } = settle(
    exported([
      { type: "creating", resource: command("new", { create: "touch x", delete: "rm x", stdin: ciphertext }) },
      { type: "creating", resource: command("nothing-to-delete", { create: "true" }) },
    ]),
    true,
  );
  assert.deepEqual(adopted, ["new"]);
  const listed = deployment.deployment.resources?.[1];
  assert.ok(listed?.id);
  assert.deepEqual(listed?.outputs, { create: "touch x", delete: "rm x", stdin: ciphertext, stdout: "", stderr: "" });
});

test("a cloud's half-made resource is named, and one that is listed anyway isn't listed twice", () => {
  const instance = {
    urn: urn("aws:ec2/instance:Instance", "node-1"),
    type: "aws:ec2/instance:Instance",
    custom: true,
    inputs: { tags: { Name: "node-1" } },
    provider: `${urn("pulumi:providers:aws", "east-aws")}::1234`,
  };
  const provider = {
    urn: urn("pulumi:providers:aws", "east-aws"),
    type: "pulumi:providers:aws",
    custom: true,
    id: "1234",
    inputs: { region: "us-east-1" },
  };
  const before = exported([
    { type: "creating", resource: instance },
    { type: "creating", resource: provider },
    { type: "creating", resource: command("made", { delete: "rm x" }) },
    { type: "deleting", resource: command("made", { delete: "rm x" }) },
    { type: "updating", resource: command("made", { delete: "rm x" }) },
  ]);
  before.deployment.resources?.push(provider);
  const { deployment, adopted, unknown } = settle(before, true);
  assert.deepEqual(unknown, [
    {
      name: "node-1",
      type: "aws:ec2/instance:Instance",
      inputs: { tags: { Name: "node-1" } },
      provider: { region: "us-east-1" },
    },
  ]);
  assert.deepEqual(adopted, []);
  assert.equal(deployment.deployment.resources?.length, 2);
});

test("versions are compared by number", () => {
  assert.ok(isEnough("3.276.0", "3.276.0"));
  assert.ok(isEnough("3.1000.0", "3.276.0"));
  assert.ok(isEnough("4.0.0", "3.276.0"));
  assert.ok(!isEnough("3.99.9", "3.276.0"));
  assert.ok(!isEnough("", "3.276.0"));
});

test("one works at a time, and a lock whose process is gone is taken over", async (t) => {
  const file = join(scratch(t), "lock");
  writeFileSync(file, String(noProcess));
  let inside = 0;
  const waited: number[] = [];
  await Promise.all(
    [1, 2].map(() =>
      withLock(
        file,
        async () => {
          inside++;
          assert.equal(inside, 1);
          await new Promise((resolve) => setTimeout(resolve, 50));
          inside--;
        },
        (pid) => waited.push(pid),
      ),
    ),
  );
  assert.deepEqual(waited, [process.pid]);
});
