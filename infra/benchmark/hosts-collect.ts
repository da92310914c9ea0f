/**
 * Starts the samplers (hosts.ts) on all nodes before a run, and puts into its result what they saw. A node that does
 * not answer is a gap, never an error.
 */

import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import pTimeout from "p-timeout";
import type { Client } from "ssh2";
import type { HostLoad, RunResult } from "../../workloads/contract.ts";
import { type Connection, connect, run } from "../ssh.ts";
import type { Role } from "../topology.ts";
import { CLOCK_SCRIPT, fetchSamplesScript, removeSamplesScript, startSamplingScript } from "./hosts.ts";
import { hostLoad, parseSamples, type Samples } from "./hosts-parse.ts";
import { RUNS_DIR } from "./unit.ts";

export interface HostNode {
  name: string;
  roles: Role[];
  connection: Connection;
  sudo: boolean;
}

/** The load does not wait longer than this for a node that is only watched. */
const START_MS = 10_000;
const FETCH_MS = 60_000;

/** Returns when all nodes are sampled, or have been given up: their windows get a gap. */
export async function startSampling(nodes: HostNode[], runKey: string): Promise<void> {
  await Promise.all(
    nodes.map((node) =>
      onHost(node, START_MS, async (client) => {
        const started = await run(client, startSamplingScript(runKey), node.sudo);
        if (started.code !== 0) throw new Error(started.stderr.trim() || `exit code ${started.code}`);
      }).catch((error: Error) => console.error(`${node.name} is not sampled: ${error.message}`)),
    ),
  );
}

/**
 * Adds `hosts` to every step. What was found is left on the driver, since the samples are removed: a result that is
 * fetched once more is the same result.
 */
export async function addHosts(result: RunResult, nodes: HostNode[], runKey: string): Promise<void> {
  // A merged result has the times of the first driver whose part is in it.
  const driver = nodes.filter((n) => n.roles.includes("driver"))[result.drivers?.[0]?.index ?? 0];
  if (!driver) return;
  const file = `${RUNS_DIR}/${runKey}/hosts.json`;
  const kept = await onHost(driver, FETCH_MS, async (client) =>
    found((await run(client, `cat ${file}`, driver.sudo)).stdout, result),
  ).catch(() => undefined);
  const hosts = kept ?? (await sampled(result, nodes, driver, runKey));
  result.steps.forEach((step, i) => {
    step.hosts = hosts[i]!;
  });
  const text = JSON.stringify({ startedAt: result.startedAt, hosts });
  try {
    if (!kept)
      await onHost(driver, FETCH_MS, (client) =>
        run(client, `cat > ${file}.new; mv ${file}.new ${file}`, driver.sudo, Readable.from([text])),
      );
    await Promise.all(
      nodes.map((node) =>
        onHost(node, START_MS, (client) => run(client, removeSamplesScript(runKey), node.sudo)).catch(() => undefined),
      ),
    );
  } catch (error) {
    console.error(`the samples of the nodes stay there: ${(error as Error).message}`);
  }
}

/** What an earlier call has left, when it is of this very run and not of one that was started again. */
function found(text: Buffer, result: RunResult): HostLoad[][] | undefined {
  try {
    const { startedAt, hosts } = JSON.parse(text.toString()) as { startedAt: string; hosts: HostLoad[][] };
    return startedAt === result.startedAt && hosts.length === result.steps.length ? hosts : undefined;
  } catch {
    return undefined;
  }
}

/** A node's two clocks at one moment of this program's own, in seconds. */
interface Clocks {
  up: number;
  wall: number;
  here: number;
}
interface Fetched {
  clocks: Clocks;
  samples: Samples | undefined;
}

async function sampled(result: RunResult, nodes: HostNode[], driver: HostNode, runKey: string): Promise<HostLoad[][]> {
  const fetched = new Map<HostNode, Fetched | string>();
  await Promise.all(
    nodes.map(async (node) => {
      fetched.set(
        node,
        await onHost(node, FETCH_MS, (client) => fetchSamples(client, node, runKey)).catch(
          (error: Error) => `the node does not answer: ${error.message}`,
        ),
      );
    }),
  );
  const reference = fetched.get(driver)!;
  return result.steps.map((step) =>
    nodes.map((node): HostLoad => {
      const got = fetched.get(node)!;
      if (typeof got === "string") return { node: node.name, gap: got };
      if (typeof reference === "string")
        return { node: node.name, gap: "the driver's clock, by which windows are known, could not be read" };
      if (!got.samples)
        return { node: node.name, gap: "no samples: the node was not sampled, or was started anew since" };
      const from = uptimeAt(Date.parse(step.startedAt) / 1000, reference.clocks, got.clocks);
      const load = hostLoad(node.name, got.samples, from, from + step.windowSeconds);
      return { ...load, clockOffsetMs: Math.round(1000 * offset(got.clocks, reference.clocks)) };
    }),
  );
}

/** What the node's clock shows less what the driver's shows. Off by half of both SSH round trips at most. */
const offset = (node: Clocks, driver: Clocks): number => node.wall - node.here - (driver.wall - driver.here);

/**
 * A moment by the driver's clock, as seconds since the node's boot. Both nodes' clocks were read beside this program's,
 * and time since boot runs on evenly: neither a wrong clock nor one that is set during the run matters, but for the
 * driver's.
 */
function uptimeAt(wall: number, driver: Clocks, node: Clocks): number {
  return wall - driver.wall + driver.here - node.here + node.up;
}

async function fetchSamples(client: Client, node: HostNode, runKey: string): Promise<Fetched> {
  const before = performance.now();
  const clock = await run(client, CLOCK_SCRIPT, node.sudo);
  const here = (before + performance.now()) / 2000;
  const [up, wall] = clock.stdout.toString().trim().split(" ").map(Number);
  if (up === undefined || !Number.isFinite(up) || wall === undefined || !Number.isFinite(wall))
    throw new Error("its clock could not be read");
  const { stdout } = await run(client, fetchSamplesScript(runKey), node.sudo);
  return {
    clocks: { up, wall, here },
    samples: stdout.length > 0 ? parseSamples(gunzipSync(stdout).toString()) : undefined,
  };
}

/** A connection for one question, closed whatever happens. */
async function onHost<T>(node: HostNode, ms: number, ask: (client: Client) => Promise<T>): Promise<T> {
  let client: Client | undefined,
    over = false;
  const asked = (async () => {
    const made = await connect(node.connection);
    if (over) {
      made.end();
      throw new Error("too late");
    }
    client = made;
    client.on("error", () => {
      /* seen as a broken run() */
    });
    return ask(client);
  })();
  try {
    return await pTimeout(asked, { milliseconds: ms, message: `no answer within ${ms / 1000} s` });
  } finally {
    over = true;
    client?.end();
  }
}
