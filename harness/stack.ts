/** A stack of the real program on the real engine, with a project folder, state and results of its own. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigInput } from "../infra/config/schema.ts";
import { labName } from "../infra/sites/lab-name.ts";
import { checkout, nodeBinary } from "../tools/paths.ts";
import { asYaml } from "../tools/start/stack-files.ts";
import { type RunResult, runResultSchema } from "../workloads/contract.ts";

export const TWO_SITES: ConfigInput = {
  sites: [
    { name: "east", kind: "local", nodes: 2 },
    { name: "west", kind: "local", nodes: 1 },
  ],
  links: [{ between: ["east", "west"], rttMs: 10 }],
  profile: "smoke",
};

/** Galera's timeouts, so short that an outage fits into a short window. */
export const SHORT_TIMEOUTS = {
  "evs.suspect_timeout": "PT2S",
  "evs.inactive_timeout": "PT4S",
  "evs.install_timeout": "PT4S",
  "evs.keepalive_period": "PT0.5S",
};

export interface Ran {
  code: number;
  output: string;
}

/** For one command of the engine on a small stack: several times what it takes on a busy machine. */
const COMMAND_TIMEOUT_MS = 420_000;

/**
 * Makes a folder a project that runs this checkout's program: its entry, and what the steps on this machine name from
 * the project's folder.
 */
export function linkProgram(root: string): void {
  for (const name of ["index.js", "package.json", "infra", "lab", "tools", "workloads"])
    symlinkSync(join(checkout, name), join(root, name));
}

export class TestStack {
  readonly root = mkdtempSync(join(tmpdir(), "meshbench-e2e-"));
  readonly lab: string;
  readonly results = join(this.root, "results");
  name: string;

  constructor(name: string, config: ConfigInput) {
    this.name = name;
    this.lab = labName(name, checkout);
    // Remains of a test that was killed are another stack's, and would keep their name.
    this.labCommand("purge", "--lab", this.lab);
    cpSync(join(checkout, "Pulumi.yaml"), join(this.root, "Pulumi.yaml"));
    linkProgram(this.root);
    this.configure(config);
  }

  configure(config: ConfigInput): void {
    const prefixed = Object.fromEntries(Object.entries(config).map(([k, v]) => [`meshbench:${k}`, v]));
    writeFileSync(join(this.root, `Pulumi.${this.name}.yaml`), asYaml({ config: prefixed }));
  }

  /** The engine as `npm run pulumi` runs it, on this stack. */
  start(args: string[]): { child: ChildProcess; ended: Promise<Ran>; output: () => string } {
    let output = "";
    const child = spawn(nodeBinary(), [join(checkout, "harness/stack-program.ts"), this.root, this.name, ...args], {
      env: { ...process.env, MESHBENCH_RESULTS: this.results, CI: "true" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    // What hangs is shown as far as it came: the last lines name the resource.
    const late = setTimeout(() => {
      output += `\nKILLED: pulumi ${args.join(" ")} did not end within ${COMMAND_TIMEOUT_MS / 1000} s\n`;
      killTree(child.pid!);
    }, COMMAND_TIMEOUT_MS);
    const ended = new Promise<Ran>((resolve) =>
      child.once("close", (code, signal) => {
        clearTimeout(late);
        resolve({ code: code ?? (signal ? 137 : 1), output });
      }),
    );
    return { child, ended, output: () => output };
  }

  run(...args: string[]): Promise<Ran> {
    return this.start(args).ended;
  }

  up(...more: string[]): Promise<Ran> {
    return this.run("up", "--yes", "--skip-preview", "--suppress-outputs", ...more);
  }

  async outputs(): Promise<Record<string, any>> {
    const { code, output } = await this.run("stack", "output", "--json");
    if (code !== 0) throw new Error(output);
    return JSON.parse(output.slice(output.indexOf("{"))) as Record<string, any>;
  }

  result(file: string): RunResult {
    return runResultSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  }

  onNode(node: string, ...command: string[]): string {
    return execFileSync(
      nodeBinary(),
      ["lab/cli.ts", "node", "exec", "--lab", this.lab, "--name", node, "--", ...command],
      { cwd: checkout, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
    );
  }

  labCommand(...args: string[]): string {
    return execFileSync(nodeBinary(), ["lab/cli.ts", ...args], {
      cwd: checkout,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** What is left of the stack's nodes on this machine, by kind; every list empty when nothing is. */
  leftovers(): Record<string, unknown[]> {
    return JSON.parse(this.labCommand("leftovers", "--lab", this.lab, "--json")) as Record<string, unknown[]>;
  }

  /** Whatever happened before: nothing stays on the machine. */
  remove(): void {
    this.labCommand("purge", "--lab", this.lab);
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Kills a process and everything that it started, as a crash of the machine would. */
export function killTree(pid: number): void {
  const list = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" }).stdout;
  try {
    process.kill(pid, "SIGSTOP");
  } catch {
    return;
  }
  for (const child of list.trim().split(/\s+/).filter(Boolean)) killTree(Number(child));
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    /* gone by itself */
  }
}

/** `+ 3 created`, `~ 1 updated` ... of an update's summary, as numbers; absent kinds are 0. */
export function changes(output: string): {
  created: number;
  updated: number;
  deleted: number;
  replaced: number;
  unchanged: number;
} {
  const count = (pattern: RegExp): number =>
    Number(pattern.exec(output.slice(output.lastIndexOf("Resources:")))?.[1] ?? 0);
  return {
    created: count(/\+ (\d+) created/),
    updated: count(/~ (\d+) updated/),
    deleted: count(/- (\d+) deleted/),
    replaced: count(/\+-(\d+) replaced/),
    unchanged: count(/(\d+) unchanged/),
  };
}

/** Names of the resources that an update made, changed or took away. */
export function touched(output: string): string[] {
  const names = [
    ...output.matchAll(/^ *(?:\+|~|-|\+-|\+\+|--) +\S+ +(\S+) +(?:created|updated|deleted|replaced)/gm),
  ].map((m) => m[1]!);
  return [...new Set(names)].sort();
}

export async function until(what: string, seconds: number, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
