/**
 * What the shipped cloud stacks need to run on this machine: moto, a laboratory with the stack's sites, stand-ins on
 * PATH.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import type { TestStack } from "../../harness/stack.ts";
import type { ConfigInput } from "../../infra/config/schema.ts";
import { type Moto, startMoto } from "../../standins/pulumi-resource-aws/moto.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";

/** The committed stack file as checkConfig's input. */
export function shippedConfig(stack: string): ConfigInput {
  const { config } = parse(readFileSync(join(checkout, `Pulumi.${stack}.yaml`), "utf8")) as {
    config: Record<string, unknown>;
  };
  return Object.fromEntries(
    Object.entries(config).map(([k, v]) => [k.replace(/^meshbench:/, ""), v]),
  ) as unknown as ConfigInput;
}

export interface Step {
  /** As the engine calls it: create, update, replace, delete, ... */
  op: string;
  type: string;
  name: string;
}

/**
 * What a command of the engine does, or as a preview would do, to resources; those that stay as they are are left out.
 * Throws the engine's words when it fails.
 */
export async function steps(stack: TestStack, ...command: string[]): Promise<Step[]> {
  const folder = mkdtempSync(join(tmpdir(), "meshbench-steps-"));
  const before = process.env["PULUMI_DEBUG_COMMANDS"];
  // The engine has --event-log only with it.
  process.env["PULUMI_DEBUG_COMMANDS"] = "true";
  try {
    // Not the shown lines: under load they run into each other.
    const log = join(folder, "events.json");
    const { code, output } = await stack.run(...command, "--event-log", log);
    if (code !== 0) throw new Error(output.slice(-5000));
    return readFileSync(log, "utf8")
      .split("\n")
      .filter(Boolean)
      .flatMap((line) => {
        const { metadata } =
          (JSON.parse(line) as { resourcePreEvent?: { metadata: { op: string; type: string; urn: string } } })
            .resourcePreEvent ?? {};
        return metadata !== undefined &&
          metadata.op !== "same" &&
          metadata.type !== "pulumi:pulumi:Stack" &&
          !/::default_[^:]*$/.test(metadata.urn)
          ? [{ op: metadata.op, type: metadata.type, name: metadata.urn.split("::").at(-1)! }]
          : [];
      });
  } finally {
    if (before === undefined) delete process.env["PULUMI_DEBUG_COMMANDS"];
    else process.env["PULUMI_DEBUG_COMMANDS"] = before;
    rmSync(folder, { recursive: true, force: true });
  }
}

const lines = (of: Step[]): string[] => [...new Set(of.map(({ op, type, name }) => `${op} ${type} ${name}`))].sort();

/** What a preview would create, one resource a line, in the order of types and names. */
export async function previewed(stack: TestStack): Promise<string> {
  const made = (await steps(stack, "preview")).filter(({ op }) => op === "create");
  return [...new Set(made.map(({ type, name }) => `${type} ${name}`))].sort().join("\n");
}

/**
 * Runs a preview, then `up`: the first must name what the second does, neither more nor less, and nothing is made anew.
 * @returns the names of what was updated.
 */
export async function updatedAsPreviewed(stack: TestStack): Promise<string[]> {
  const told = lines(await steps(stack, "preview"));
  const done = lines(await steps(stack, "up", "--yes", "--skip-preview", "--suppress-outputs"));
  assert.deepEqual(done, told, "up does what the preview says");
  assert.deepEqual(
    told.filter((line) => !line.startsWith("update ")),
    [],
    "nothing is made, replaced or taken away",
  );
  return told.map((line) => line.split(" ").at(-1)!);
}

/** Between two runs of a test the load engine's sources may have been edited, and then the run is made again. */
export const withoutRuns = (names: string[]): string[] =>
  names.filter((name) => !/-(rtt|throughput)$|^run(-spec)?$|^driver-runtime$/.test(name));

export interface CloudStackArgs {
  stack: TestStack;
  /** Sites of the laboratory by the names of the stack's. */
  sites: { name: string; nat?: boolean }[];
  rttMs?: number;
}

export class CloudStack {
  readonly stack: TestStack;
  readonly moto: Moto;
  /** The first three numbers of each site's network in the laboratory. */
  prefixes: Record<string, string> = {};
  readonly #folder: string;
  readonly #before: Record<string, string | undefined> = {};

  private constructor(stack: TestStack, moto: Moto) {
    this.stack = stack;
    this.moto = moto;
    this.#folder = mkdtempSync(join(tmpdir(), "meshbench-stand-ins-"));
  }

  /** The environment of this process is what the engine gets: set here, put back by stop(). */
  static async start({ stack, sites, rttMs = 10 }: CloudStackArgs): Promise<CloudStack> {
    const clouds = new CloudStack(stack, await startMoto());
    const links = sites.flatMap((a, i) => sites.slice(i + 1).map((b) => ({ between: [a.name, b.name], rttMs })));
    const made = spawnSync(nodeBinary(), ["lab/cli.ts", "network", "apply"], {
      cwd: checkout,
      input: JSON.stringify({ lab: stack.lab, sites, links }),
      encoding: "utf8",
    });
    if (made.status !== 0) {
      await clouds.stop();
      throw new Error(made.stderr);
    }
    const described = JSON.parse(made.stdout) as { sites: Record<string, { subnet: string }> };
    clouds.prefixes = Object.fromEntries(
      Object.entries(described.sites).map(([site, { subnet }]) => [site, subnet.replace(/\.0\/24$/, "")]),
    );
    clouds.launcher("pulumi-resource-aws");
    clouds.environment({
      AWS_ENDPOINT_URL: clouds.moto.url,
      AWS_ACCESS_KEY_ID: "stand-in",
      AWS_SECRET_ACCESS_KEY: "stand-in",
      AWS_EC2_METADATA_DISABLED: "true",
      MESHBENCH_STANDIN_LAB: stack.lab,
      MESHBENCH_STAND_INS: "the AWS plugin for Pulumi",
      PATH: `${clouds.#folder}${delimiter}${process.env["PATH"] ?? ""}`,
    });
    return clouds;
  }

  /** Puts the stand-in of that name under standins/ on the engine's PATH. */
  launcher(name: string): void {
    mkdirSync(this.#folder, { recursive: true });
    const file = join(this.#folder, name);
    writeFileSync(
      file,
      `#!/bin/sh\nexport NODE_COMPILE_CACHE='${join(checkout, ".meshbench", "compile-cache")}'\nexec '${nodeBinary()}' '${join(checkout, "standins", name, "main.ts")}' "$@"\n`,
    );
    chmodSync(file, 0o755);
  }

  environment(values: Record<string, string | undefined>): void {
    for (const [key, value] of Object.entries(values)) {
      if (!(key in this.#before)) this.#before[key] = process.env[key];
      if (value === undefined) delete process.env[key];
      else process.env[key] = value;
    }
  }

  /** Names of the nodes that the laboratory has. */
  labNodes(): string[] {
    const labs = JSON.parse(this.stack.labCommand("list", "--json")) as { lab: string; nodes: { name: string }[] }[];
    return labs.find((one) => one.lab === this.stack.lab)?.nodes.map((node) => node.name) ?? [];
  }

  async stop(): Promise<void> {
    this.environment(this.#before);
    await this.moto.stop();
    rmSync(this.#folder, { recursive: true, force: true });
    this.stack.remove();
  }
}
