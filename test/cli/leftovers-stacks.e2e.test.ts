/** Stacks of a real engine in the file backend: what is over is destroyed and forgotten, what a user has set stays. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readSettings } from "../../cli/doctor/settings.ts";
import { lookAtStacks, readStacks } from "../../cli/leftovers/stacks.ts";
import { stateFile } from "../../tools/project.ts";
import { runPulumi } from "../../tools/run.ts";
import { type Scratch, scratchProject } from "../tools/project.ts";

const program = `
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
const when = new pulumi.Config().require("when");
const expiry = new command.local.Command("expiry", { create: pulumi.interpolate\`date -u -d '\${when}' +%Y-%m-%dT%H:%M:%SZ\`, logging: "none" });
new command.local.Command("thing", { create: "echo made", delete: \`echo taken >> \${process.env.PULUMI_TEST_LOG}\`, logging: "none" }, { dependsOn: expiry });
export const lab = "some-lab";
`;
const stackText = (when: string): string => `config:\n  scratch:when: ${when}\n`;

let scratch: Scratch;
before(() => {
  scratch = scratchProject({
    "program/index.ts": program,
    "Pulumi.over.yaml": stackText("1 hour ago"),
    "Pulumi.wanted.yaml": stackText("1 hour"),
  });
  process.env["PULUMI_TEST_LOG"] = join(scratch.root, "log");
});
after(() => {
  delete process.env["PULUMI_TEST_LOG"];
  scratch.remove();
});

const pulumi = async (...args: string[]): Promise<void> => {
  const stack = args.at(-1)!;
  const { code, stdout, stderr } = await runPulumi([...args.slice(0, -1), "--stack", stack], {
    project: scratch.project,
    stack,
    stdio: ["ignore", "pipe", "pipe"],
    say: () => {},
  });
  assert.equal(code, 0, stdout + stderr);
};

test("a stack that is over is found by its own expiry, destroyed and removed; another stays", async () => {
  for (const stack of ["over", "wanted"]) await pulumi("up", "--yes", "--skip-preview", "--non-interactive", stack);
  const { stacks, skipped } = await readStacks(scratch.project);
  assert.deepEqual(skipped, []);
  assert.deepEqual(
    stacks.map((s) => [s.name, s.resources, s.lab, s.clouds]),
    [
      ["over", 2, "some-lab", false],
      ["wanted", 2, "some-lab", false],
    ],
  );
  const { found } = lookAtStacks(scratch.project, stacks, Date.now());
  assert.deepEqual(
    found.map((f) => [f.name, f.expired]),
    [
      ["over", true],
      ["wanted", false],
    ],
  );

  await pulumi("config", "set", "scratch:extra", "kept", "over");
  await found[0]!.remove(() => {});
  assert.equal(readFileSync(join(scratch.root, "log"), "utf8"), "taken\n");
  assert.ok(!existsSync(stateFile(scratch.project, "over")!));
  assert.match(readFileSync(join(scratch.project.work, "Pulumi.over.yaml"), "utf8"), /scratch:extra: kept/);
  assert.deepEqual(
    (await readStacks(scratch.project)).stacks.map((s) => s.name),
    ["wanted"],
  );
  await pulumi("destroy", "--yes", "--skip-preview", "--non-interactive", "wanted");
  assert.deepEqual((await readStacks(scratch.project)).stacks, [], "a stack that holds nothing is no leftover");
});

test("a torn state is named and the others are still read", async () => {
  scratch.write(".meshbench/state/.pulumi/stacks/scratch/torn.json", '{"checkpoint": ');
  const { stacks, skipped } = await readStacks(scratch.project);
  assert.deepEqual(stacks, []);
  assert.equal(skipped.length, 1);
  assert.match(skipped[0]!, /^stack torn: its state cannot be read: /);
});

test("a secret is decrypted by the engine that encrypted it, and without its stack it is called sealed", async () => {
  await pulumi("config", "set", "--secret", "scratch:proxmoxToken", "u@pve!t=s", "wanted");
  const { raw, sealed } = await readSettings(scratch.root, "wanted");
  assert.deepEqual([raw["proxmoxToken"], raw["when"], sealed], ["u@pve!t=s", "1 hour", []]);
  await pulumi("stack", "rm", "--yes", "--preserve-config", "wanted");
  const gone = await readSettings(scratch.root, "wanted");
  assert.deepEqual([gone.raw["proxmoxToken"], gone.sealed], ["sealed@sealed!sealed=sealed", ["proxmoxToken"]]);
});
