/** meshbench ssh: a shell on a node, or a command there, with the key and the pinned host key that the stack keeps. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { ReportError } from "../report/errors.ts";
import { ToolError } from "../tools/paths.ts";
import { openProject } from "../tools/project.ts";
import { runPulumi } from "../tools/run.ts";
import { guarded } from "./compare.ts";

interface Hop {
  host: string;
  port?: number;
  user: string;
  privateKey: string;
  /** "ssh-ed25519 AAAA..." */
  hostKey: string;
}
export interface NodeConnection extends Hop {
  proxy?: Hop;
}

export interface Exported {
  deployment?: { resources?: { urn: string; type: string; inputs?: Record<string, unknown> }[] | null };
}

export function register(program: Command): void {
  program
    .command("ssh")
    .description("log in to a node of a stack, or run a command there")
    .argument("<stack>")
    .argument("<node>", "as stack output calls it, such as east-1 or driver")
    .argument("[command...]", "run instead of a shell; its exit code is this one's")
    .passThroughOptions()
    .addHelpText(
      "after",
      "\nThe host key is the one that the stack has pinned; your own SSH configuration and agent are not used.",
    )
    .action((stack: string, node: string, command: string[]) => guarded(() => run(stack, node, command)));
}

async function run(stack: string, node: string, command: string[]): Promise<void> {
  const { code, stdout, stderr } = await runPulumi(
    ["stack", "export", "--show-secrets", "--non-interactive", "--stack", stack],
    { project: openProject(), stack, stdio: "pipe", say: () => {} },
  ).catch((error: unknown) => {
    throw error instanceof ToolError ? new ReportError(error.message) : error;
  });
  if (code !== 0) throw new ReportError(`${stack}: ${stderr.trim().replace(/^error: /, "") || "no such stack"}`);
  process.exitCode = await login(node, connectionOf(JSON.parse(stdout) as Exported, stack, node), command);
}

const SECRET = "4dabf18193072939515e22adb298388d";

/** Values of an exported state; a secret is an object with its value as JSON in `plaintext`. */
function opened(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const all = value as Record<string, unknown>;
  if (SECRET in all) return typeof all["plaintext"] === "string" ? opened(JSON.parse(all["plaintext"])) : undefined;
  return Object.fromEntries(Object.entries(all).map(([key, inner]) => [key, opened(inner)]));
}

/** From the first step that every node of a mesh has. Pure; throws a ReportError that names the nodes that there are. */
export function connectionOf(exported: Exported, stack: string, node: string): NodeConnection {
  const connections = new Map(
    (exported.deployment?.resources ?? []).flatMap(({ urn, type, inputs }) => {
      const name = /::([^:]+)-wg-key$/.exec(urn)?.[1];
      return type === "command:remote:Command" && name !== undefined ? [[name, inputs?.["connection"]] as const] : [];
    }),
  );
  if (connections.size === 0)
    throw new ReportError(`${stack}: has no nodes; npm run pulumi -- up -s ${stack} makes them`);
  const found = opened(connections.get(node)) as NodeConnection | undefined;
  if (!connections.has(node))
    throw new ReportError(`${node}: no node of ${stack}; expected one of ${[...connections.keys()].sort().join(", ")}`);
  if (typeof found?.privateKey !== "string")
    throw new ReportError(`${stack}: the key of ${node} cannot be decrypted here`);
  return found;
}

/** ssh's arguments; keys and host keys lie in files of a folder that only this user can read. Pure. */
export function sshArguments(node: string, c: NodeConnection, folder: string, command: string[]): string[] {
  const hop = (name: string, { port, user, host }: Hop): string[] => [
    ...["-F", "none", "-i", join(folder, `${name}.key`), "-p", String(port ?? 22), "-l", user],
    ...[
      "IdentitiesOnly=yes",
      "IdentityAgent=none",
      "BatchMode=yes",
      "StrictHostKeyChecking=yes",
      `UserKnownHostsFile=${join(folder, "known_hosts")}`,
      "GlobalKnownHostsFile=none",
      `HostKeyAlias=${name}`,
      "ConnectTimeout=15",
      "LogLevel=ERROR",
    ].flatMap((option) => ["-o", option]),
    host,
  ];
  // The jump host has a key of its own, which ssh's -J has no option for.
  const through =
    c.proxy === undefined
      ? []
      : ["-o", `ProxyCommand=ssh -W ${c.host}:${c.port ?? 22} ${hop("jump", c.proxy).map(quoted).join(" ")}`];
  return [...through, ...hop(node, c), ...(command.length === 0 ? [] : ["--", ...command])];
}

/** For ssh's own shell; `%` begins a token there. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`.replaceAll("%", "%%");

export async function login(node: string, connection: NodeConnection, command: string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "meshbench-ssh-"));
  try {
    for (const [name, hop] of [[node, connection] as const, ["jump", connection.proxy] as const]) {
      if (hop === undefined) continue;
      writeFileSync(join(folder, `${name}.key`), `${hop.privateKey.trimEnd()}\n`, { mode: 0o600 });
      writeFileSync(join(folder, "known_hosts"), `${name} ${hop.hostKey}\n`, { mode: 0o600, flag: "a" });
    }
    const child = spawn("ssh", sshArguments(node, connection, folder, command), { stdio: "inherit" });
    // Ctrl-C is the remote side's.
    const ignored = (): void => {};
    process.on("SIGINT", ignored);
    try {
      return await new Promise<number>((resolve, reject) => {
        child.once("error", (error: NodeJS.ErrnoException) =>
          reject(new ReportError(`ssh could not be started (${error.code}): install OpenSSH's client`)),
        );
        child.once("close", (code) => resolve(code ?? 255));
      });
    } finally {
      process.off("SIGINT", ignored);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
