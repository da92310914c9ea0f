import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { checkout, nodeBinary } from "../../tools/paths.ts";
import { lockFolder } from "../../tools/project.ts";
import { type RunResult, runPulumi } from "../../tools/run.ts";
import { hasPendingOperations } from "../../tools/start/recover.ts";
import { type Scratch, scratchProject, until } from "./project.ts";

const program = `
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
const config = new pulumi.Config();
const first = new command.local.Command("first", {
  create: "echo first >> log", delete: "echo first deleted >> log", dir: config.require("dir"), logging: "none",
});
const slow = new command.local.Command("slow", {
  create: "echo slow >> log; test -e fast || sleep 300", delete: "echo slow deleted >> log", dir: config.require("dir"), logging: "none",
}, { dependsOn: first });
export const greeting = config.require("greeting");
export const hidden = config.requireSecret("greeting");
`;

let scratch: Scratch;
before(() => {
  scratch = scratchProject({
    "program/index.ts": program,
    "Pulumi.dev.yaml": "config:\n  scratch:greeting: hello\n  scratch:dir: /nowhere\n",
  });
});
after(() => scratch.remove());

const lines: string[] = [];

async function pulumi(...args: string[]): Promise<RunResult> {
  const destroying = args[0] === "destroy";
  const result = await runPulumi([...args, "--non-interactive"], {
    project: scratch.project,
    stack: "dev",
    stdio: ["ignore", "pipe", "pipe"],
    destroying,
    say: (line) => lines.push(line),
  });
  assert.equal(result.code, 0, `pulumi ${args.join(" ")}:\n${result.stdout}\n${result.stderr}`);
  return result;
}

function log(): string[] {
  const file = join(scratch.root, "log");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

function running(marker: string): string[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
        return environment.includes(marker) ? [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")] : [];
      } catch {
        return [];
      }
    });
}

function locks(): string[] {
  const folder = lockFolder(scratch.project, "dev") ?? "";
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

/** Starts an `up` in a process of its own, and stops it by `stop` once the slow command runs. */
async function stopDuringUp(stop: (engine: number, wrapper: ChildProcess) => void): Promise<void> {
  rmSync(join(scratch.root, "fast"), { force: true });
  const before = log().length;
  const child = spawn(
    nodeBinary(),
    [
      "--input-type=module",
      "-e",
      `
    import { openProject } from ${JSON.stringify(join(checkout, "tools/project.ts"))};
    import { runPulumi } from ${JSON.stringify(join(checkout, "tools/run.ts"))};
    const project = openProject(${JSON.stringify(scratch.root)}, { HOME: ${JSON.stringify(scratch.root)}, PULUMI_HOME: ${JSON.stringify(join(scratch.root, ".home"))} });
    const { code } = await runPulumi(["up", "--yes", "--skip-preview", "--stack", "dev"], { project, stack: "dev", stdio: "ignore" });
    process.exit(code);
  `,
    ],
    { stdio: "ignore" },
  );
  const exited = new Promise((resolve) => child.once("exit", resolve));
  await until("the slow command runs", () => log().slice(before).includes("slow"));
  const { pid } = JSON.parse(locks()[0] ?? "{}") as { pid: number };
  stop(pid, child);
  await exited;
  await until("nothing of the stopped run is left", () => running(scratch.project.state ?? "?").length === 0);
}

test("a first run creates the stack, and the checkout stays clean", async () => {
  await pulumi("config", "set", "scratch:dir", scratch.root, "--stack", "dev");
  scratch.write("fast", "");
  scratch.write(".gitignore", ".meshbench/\nnode_modules\nlog\nfast\n.home\n.gitignore\n");
  const { stdout } = await pulumi("preview", "--stack", "dev");
  assert.match(stdout, /3 to create/);
  await pulumi("up", "--yes", "--skip-preview", "--stack", "dev");
  const outputs = JSON.parse((await pulumi("stack", "output", "--json", "--stack", "dev")).stdout) as Record<
    string,
    string
  >;
  assert.equal(outputs["greeting"], "hello");
  assert.equal(outputs["hidden"], "[secret]");
  assert.deepEqual(log(), ["first", "slow"]);
  assert.equal(scratch.gitStatus(), " M .gitignore\n");
});

test("state and passphrase are for the owner alone", () => {
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  assert.equal(mode(scratch.project.private), "700");
  assert.equal(mode(join(scratch.project.private, "passphrase")), "600");
});

test("what is set here wins, key by key, and an edit of the committed file arrives", async () => {
  await pulumi("config", "set", "scratch:greeting", "mine", "--stack", "dev");
  scratch.write("Pulumi.dev.yaml", "config:\n  scratch:greeting: theirs\n  scratch:dir: /nowhere\n  scratch:more: 1\n");
  const { stdout } = await pulumi("config", "--json", "--stack", "dev");
  const values = JSON.parse(stdout) as Record<string, { value: string }>;
  assert.equal(values["scratch:greeting"]?.value, "mine");
  assert.equal(values["scratch:more"]?.value, "1");
  assert.equal(values["scratch:dir"]?.value, scratch.root);
  await pulumi("config", "set", "--secret", "scratch:password", "open sesame", "--stack", "dev");
  assert.doesNotMatch(scratch.gitStatus(), /sesame|encryptionsalt/);
  assert.equal((await pulumi("config", "get", "scratch:password", "--stack", "dev")).stdout.trim(), "open sesame");
});

test("a second run changes nothing; refresh, stack ls and cancel work", async () => {
  const second = await pulumi("up", "--yes", "--skip-preview", "--stack", "dev");
  assert.match(second.stdout, /unchanged/);
  assert.deepEqual(log(), ["first", "slow"]);
  await pulumi("refresh", "--yes", "--stack", "dev");
  assert.match((await pulumi("stack", "ls")).stdout, /dev/);
  await pulumi("cancel", "--yes", "--stack", "dev");
  await pulumi("destroy", "--yes", "--skip-preview", "--stack", "dev");
  assert.deepEqual(log(), ["first", "slow", "slow deleted", "first deleted"]);
});

test("after a kill -9 of the engine the next up just works", async () => {
  await stopDuringUp((engine) => process.kill(engine, "SIGKILL"));
  assert.ok(hasPendingOperations(scratch.project, "dev"), "the kill left an operation half done");
  scratch.write("fast", "");
  lines.length = 0;
  const { stdout, stderr } = await pulumi("up", "--yes", "--skip-preview", "--stack", "dev");
  assert.match(lines.join("\n"), /Removed the lock/);
  assert.match(lines.join("\n"), /was killed/);
  assert.doesNotMatch(stdout + stderr, /pending operation/);
  assert.equal(hasPendingOperations(scratch.project, "dev"), false);
  await pulumi("destroy", "--yes", "--skip-preview", "--stack", "dev");
});

test("after a kill -9 of everything, destroy deletes what was being created", async () => {
  await stopDuringUp((engine, wrapper) => {
    process.kill(engine, "SIGKILL");
    wrapper.kill("SIGKILL");
  });
  lines.length = 0;
  await pulumi("destroy", "--yes", "--skip-preview", "--stack", "dev");
  assert.match(lines.join("\n"), /To be deleted too, in case they exist: slow/);
  assert.deepEqual(log().slice(-2), ["slow deleted", "first deleted"]);
});

test("Ctrl-C ends a run in order: no lock, nothing pending", async () => {
  await stopDuringUp((_engine, wrapper) => wrapper.kill("SIGINT"));
  assert.deepEqual(locks(), []);
  lines.length = 0;
  await pulumi("destroy", "--yes", "--skip-preview", "--stack", "dev");
  assert.deepEqual(log().slice(-1), ["first deleted"]);
});

test("the engine doesn't outlive the command that started it", async () => {
  await stopDuringUp((_engine, wrapper) => wrapper.kill("SIGKILL"));
  assert.deepEqual(locks(), [], "it stopped in order");
  await pulumi("destroy", "--yes", "--skip-preview", "--stack", "dev");
});
