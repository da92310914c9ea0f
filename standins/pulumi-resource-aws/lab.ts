/** The node on this machine that an instance gets: `lab node ...`, called as any program would be. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Log } from "../pulumi-resource-command/log.ts";

const checkout = join(import.meta.dirname, "..", "..");

/** The laboratory that carries the instances; its network is made before the stack is put up. */
export function labName(): string {
  const name = process.env["MESHBENCH_STANDIN_LAB"];
  if (!name)
    throw new Error(
      "this stand-in for the AWS plugin puts instances on local nodes: MESHBENCH_STANDIN_LAB must name the laboratory",
    );
  return name;
}

export async function lab<T>(args: string[], log: Log, input?: unknown): Promise<T> {
  const child = spawn(process.execPath, [join(checkout, "lab", "cli.ts"), ...args], {
    cwd: checkout,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {}).end(input === undefined ? "" : JSON.stringify(input));
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (c) => resolve(c ?? 1));
    }),
  ]);
  if (code !== 0) throw new Error(stderr.trim().split("\n").at(-1) ?? `lab ${args.join(" ")} ended with ${code}`);
  log.status(stderr.trim().split("\n").at(-1) ?? "");
  return JSON.parse(stdout || "null") as T;
}

export interface LabNode {
  name: string;
  site: string;
  address: string;
  running?: boolean;
}

export async function labNodes(log: Log): Promise<LabNode[]> {
  const labs = await lab<{ lab: string; nodes: LabNode[] }[]>(["list", "--json"], log);
  return labs.find((one) => one.lab === labName())?.nodes ?? [];
}
