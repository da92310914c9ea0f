import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkout } from "../../tools/paths.ts";
import { openProject, type Project } from "../../tools/project.ts";

export interface Scratch {
  root: string;
  project: Project;
  /** What git sees as changed or new. */
  gitStatus(): string;
  write(file: string, text: string): void;
  remove(): void;
}

/** A small Pulumi project in a git repository of its own, with the project's node_modules. */
export function scratchProject(files: Record<string, string>): Scratch {
  const root = mkdtempSync(join(tmpdir(), "meshbench-project-"));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", root, "-c", "user.name=t", "-c", "user.email=t@t", ...args], { encoding: "utf8" });
  const all: Record<string, string> = {
    "Pulumi.yaml": "name: scratch\nruntime: {name: nodejs, options: {typescript: false}}\nmain: program/index.ts\n",
    "package.json": '{"type":"module"}\n',
    ".gitignore": ".meshbench/\nnode_modules\n",
    ...files,
  };
  for (const [file, text] of Object.entries(all)) write(file, text);
  symlinkSync(join(checkout, "node_modules"), join(root, "node_modules"));
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "scratch");
  return {
    root,
    // Whatever backend the developer uses, these tests are about the project's own.
    project: openProject(root, { HOME: root, PULUMI_HOME: join(root, ".home") }),
    gitStatus: () => git("status", "--porcelain"),
    write,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Waits for a condition, half a minute at most. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (condition()) return;
    await sleep(50);
  }
  throw new Error(`never came: ${what}`);
}
