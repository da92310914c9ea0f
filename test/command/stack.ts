import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { resolveEngine } from "../../tools/engine/engine.ts";
import { onPath } from "../../tools/paths.ts";
import { runPulumi } from "../../tools/run.ts";
import { commandPlugin, standInFolder, standInPath } from "../../tools/standins.ts";
import { type Scratch, scratchProject } from "../tools/project.ts";

/** A plugin under test: the vendor's, or the stand-in for it. */
export interface Plugin {
  name: "stand-in" | "vendor's plugin";
  /** The folder put first on PATH; undefined: this machine doesn't have it. */
  folder: string | undefined;
}

export const standIn: Plugin = { name: "stand-in", folder: standInPath([commandPlugin]) };

function vendorFolder(): string | undefined {
  const named = process.env["MESHBENCH_VENDOR_BIN"];
  if (named && existsSync(join(named, commandPlugin))) return named;
  const found = onPath(commandPlugin, process.env["PATH"], standInFolder());
  return found && join(found, "..");
}

export const vendor: Plugin = { name: "vendor's plugin", folder: vendorFolder() };

/** A resource of the generic program below. `$secret` and `$file` mark secrets and file assets. */
export interface Resource {
  type: "local.Command" | "remote.Command" | "remote.CopyToRemote";
  name: string;
  args: Record<string, unknown>;
  opts?: { additionalSecretOutputs?: string[]; deletedWith?: string; dependsOn?: string };
}

const program = `
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";

function open(value) {
  if (Array.isArray(value)) return value.map(open);
  if (typeof value !== "object" || value === null) return value;
  if ("$secret" in value) return pulumi.secret(open(value.$secret));
  if ("$file" in value) return new pulumi.asset.FileAsset(value.$file);
  if ("$text" in value) return new pulumi.asset.StringAsset(value.$text);
  if ("$archive" in value) return new pulumi.asset.FileArchive(value.$archive);
  if ("$stdout" in value) return made[value.$stdout].stdout;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, open(inner)]));
}

const made = {};
const outputs = {};
for (const { type, name, args, opts = {} } of JSON.parse(readFileSync(new URL("spec.json", import.meta.url)))) {
  const [module, kind] = type.split(".");
  const { deletedWith, dependsOn, ...rest } = opts;
  made[name] = new command[module][kind](name, open(args), {
    ...rest, ...(deletedWith && { deletedWith: made[deletedWith] }), ...(dependsOn && { dependsOn: made[dependsOn] }),
  });
  outputs[name] = { stdout: made[name].stdout, stderr: made[name].stderr };
}
export const results = outputs;
`;

export interface Event {
  kind: "step" | "log" | "done";
  resource: string;
  op?: string;
  text?: string;
  severity?: string;
  ephemeral?: boolean;
}

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
  events: Event[];
}

interface RawEvent {
  resourcePreEvent?: { metadata: { urn: string; op: string } };
  resOutputsEvent?: { metadata: { urn: string; op: string } };
  diagnosticEvent?: { urn?: string; message: string; severity: string; ephemeral?: boolean };
}

const nameOf = (urn = "") => urn.split("::").slice(3).join("::");

function parseEvents(file: string): Event[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .flatMap((line): Event[] => {
      const { resourcePreEvent: step, resOutputsEvent: done, diagnosticEvent: log } = JSON.parse(line) as RawEvent;
      if (step) return [{ kind: "step", resource: nameOf(step.metadata.urn), op: step.metadata.op }];
      if (done) return [{ kind: "done", resource: nameOf(done.metadata.urn), op: done.metadata.op }];
      if (!log) return [];
      const text = log.message.replace(/<\{%.*?%\}>/g, "").trim();
      return [
        { kind: "log", resource: nameOf(log.urn), text, severity: log.severity, ephemeral: log.ephemeral ?? false },
      ];
    });
}

/** A stack whose resources come from a list, run by the real engine with one of the plugins. */
export class TestStack {
  readonly #plugin: Plugin;
  readonly scratch: Scratch;

  constructor(plugin: Plugin, scratch?: Scratch) {
    this.#plugin = plugin;
    this.scratch =
      scratch ??
      scratchProject({
        "program/index.js": program,
        "Pulumi.yaml": "name: scratch\nruntime: nodejs\nmain: program/index.js\n",
        "Pulumi.dev.yaml": "{}\n",
      });
  }

  /** The same stack, run with another plugin. */
  with(plugin: Plugin): TestStack {
    return new TestStack(plugin, this.scratch);
  }

  async run(args: string[], resources?: Resource[], signal?: AbortSignal): Promise<Run> {
    if (resources) this.scratch.write("program/spec.json", JSON.stringify(resources));
    const { env } = await resolveEngine();
    const eventLog = join(this.scratch.root, ".meshbench", "events.json");
    rmSync(eventLog, { force: true });
    const operation = ["up", "preview", "destroy", "refresh"].includes(args[0] ?? "");
    const result = await runPulumi(
      [...args, "--stack", "dev", "--non-interactive", ...(operation ? ["--event-log", eventLog] : [])],
      {
        project: this.scratch.project,
        stack: "dev",
        env: {
          PATH: [this.#plugin.folder, env["PATH"]].join(delimiter),
          SSH_AUTH_SOCK: "",
          PULUMI_DEBUG_COMMANDS: "true" /* for --event-log */,
        },
        stdio: ["ignore", "pipe", "pipe"],
        say: () => {},
        ...(signal && { signal }),
      },
    );
    return { ...result, events: parseEvents(eventLog) };
  }

  async outputs(): Promise<Record<string, { stdout: string; stderr: string }>> {
    const { stdout } = await this.run(["stack", "output", "results", "--json", "--show-secrets"]);
    return JSON.parse(stdout) as Record<string, { stdout: string; stderr: string }>;
  }

  async exported(): Promise<{
    text: string;
    resources: Record<string, { inputs: Record<string, unknown>; outputs: Record<string, unknown> }>;
  }> {
    const { stdout } = await this.run(["stack", "export"]);
    const { deployment } = JSON.parse(stdout) as {
      deployment: { resources?: { urn: string; inputs: Record<string, unknown>; outputs: Record<string, unknown> }[] };
    };
    return {
      text: stdout,
      resources: Object.fromEntries((deployment.resources ?? []).map((resource) => [nameOf(resource.urn), resource])),
    };
  }
}

/** What was done to each resource: `create`, `update`, `replace`, `delete`, `same`... */
export function operations(run: Run): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { kind, resource, op } of run.events) if (kind === "step" && op) (found[resource] ??= []).push(op);
  return found;
}

/** The lasting errors, resource by resource. */
export function errors(run: Run): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { kind, resource, text, severity } of run.events) {
    if (kind === "log" && severity === "error") found[resource] = `${found[resource] ?? ""}${text}\n`;
  }
  return found;
}
