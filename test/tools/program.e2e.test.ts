/** What the language host - the vendor's, else the stand-in - makes of programs that go wrong. */
import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { linkProgram } from "../../harness/stack.ts";
import { checkout } from "../../tools/paths.ts";
import { openProject } from "../../tools/project.ts";
import { type RunResult, runPulumi } from "../../tools/run.ts";
import { type Scratch, scratchProject } from "./project.ts";

let scratch: Scratch;
before(() => {
  scratch = scratchProject({ "program/index.ts": "", "Pulumi.dev.yaml": "config:\n  scratch:a: 1\n" });
});
after(() => scratch.remove());

function preview(program: string): Promise<RunResult> {
  scratch.write("program/index.ts", program);
  return runPulumi(["preview", "--stack", "dev", "--non-interactive"], {
    project: scratch.project,
    stack: "dev",
    stdio: ["ignore", "pipe", "pipe"],
    say: () => {},
  });
}

test("a user's mistake is one sentence, without a stack trace", async () => {
  const { code, stdout } = await preview(`
    import { RunError } from "@pulumi/pulumi";
    export default async () => { throw new RunError("sites: one at least"); };`);
  assert.notEqual(code, 0);
  assert.match(stdout, /error: .*sites: one at least/);
  assert.doesNotMatch(stdout, /^\s+at /m);
});

test("any other error fails the run and says where it comes from", async () => {
  for (const program of [
    `export default async () => { throw new Error("boom"); };`,
    `import { output } from "@pulumi/pulumi"; output(1).apply(() => { throw new Error("boom"); });`,
    `throw new Error("boom");`,
  ]) {
    const { code, stdout } = await preview(program);
    assert.notEqual(code, 0, program);
    assert.match(stdout, /boom[\s\S]*program\/index\.ts/, program);
  }
});

test("what the program's function returns are the stack's outputs", async () => {
  const { code, stdout } = await preview(`
    import { Config } from "@pulumi/pulumi";
    export default async () => ({ answer: new Config().requireNumber("a") + 41 });`);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /answer: 42/);
});

test("the program learns its project's folder", async () => {
  const { code, stdout } = await preview(`
    import { runtime } from "@pulumi/pulumi";
    export default async () => ({ folder: runtime.getRootDirectory() });`);
  assert.equal(code, 0, stdout);
  assert.ok(stdout.includes(scratch.project.work), stdout);
});

test("this project's program refuses a word of the stack file that the engine reads otherwise, outside the checkout too", async () => {
  const own = scratchProject({ "Pulumi.dev.yaml": "config:\n  meshbench:expiresHours: 010\n" });
  try {
    for (const name of ["Pulumi.yaml", "package.json"]) rmSync(join(own.root, name));
    cpSync(join(checkout, "Pulumi.yaml"), join(own.root, "Pulumi.yaml"));
    linkProgram(own.root);
    const { code, stdout } = await runPulumi(["preview", "--stack", "dev", "--non-interactive"], {
      project: openProject(own.root, { HOME: own.root, PULUMI_HOME: join(own.root, ".home") }),
      stack: "dev",
      stdio: ["ignore", "pipe", "pipe"],
      say: () => {},
    });
    assert.notEqual(code, 0);
    assert.match(
      stdout,
      /error: .*meshbench:expiresHours: 010 in line 2 of Pulumi\.dev\.yaml, which readers of YAML take for different values; expected 10 for/,
    );
    assert.doesNotMatch(stdout, /^\s+at /m);
  } finally {
    own.remove();
  }
});
