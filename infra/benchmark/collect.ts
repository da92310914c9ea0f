/**
 * A program: starts the run on the driver node unless it is under way or done, follows it, brings the result home.
 * stdin: CollectInput. stderr: progress. stdout: the summary that becomes stack outputs.
 * A connection that breaks is taken up again; a run that ended without a result is an error with the end of its log.
 */
import { runResultSchema, type RunResult } from "../../workloads/contract.ts";
import { runCost } from "../cost/run.ts";
import { countersBetween } from "../proxies/maxscale-facts.ts";
import { saveResult } from "./save.ts";
import { summarize } from "./summary.ts";
import { connect, HostKeyError, readInput, run, sleep, type Connection } from "./ssh.ts";
import { parsePoll, pollScript, RUNS_DIR, startScript, type Poll } from "./unit.ts";
import type { Client } from "ssh2";
import { gunzipSync } from "node:zlib";

interface CollectInput {
  connection: Connection;
  sudo: boolean;
  runKey: string;
  /** Relative to the project's root, which is the working directory. */
  resultsDir: string;
}

/** How long the driver may stay silent before this side gives up; the run itself goes on. */
const SILENCE_MS = Number(process.env["MESHBENCH_SILENCE_SECONDS"] ?? 600) * 1000;
const POLL_MS = 1000;
const TAIL_LINES = 15;

const input = await readInput<CollectInput>();
try {
  const ended = await follow(input);
  const result = await fetchResult(input);
  const cost = result && runCost(result);
  if (cost) result["cost"] = cost;
  const file = result ? saveResult(input.resultsDir, result) : undefined;
  if (!result || ended.exit !== 0 || !result.complete) {
    const why = result ? `the run is incomplete (${result.incompleteReason ?? "no reason given"}), what it has is in ${file}` : "the run ended without a result";
    throw new Error(`${why}; the end of its log:\n${ended.tail.join("\n")}`);
  }
  process.stdout.write(JSON.stringify(summarize(result, file!)));
} catch (error) {
  console.error(`benchmark: ${(error as Error).message}`);
  process.exitCode = 1;
}

/** Resolves when the unit has ended. */
async function follow({ connection, sudo, runKey }: CollectInput): Promise<Poll & { tail: string[] }> {
  let offset = 0, started = false, heard = Date.now(), rest = "";
  let client: Client | undefined;
  const tail: string[] = [];
  for (;;) {
    try {
      client ??= await open(connection);
      if (!started) {
        const start = await run(client, startScript(runKey), sudo);
        if (start.code !== 0) throw new Fatal(`the run could not be started: ${start.stderr.trim()}`);
        started = true;
      }
      const answer = await withTimeout(run(client, pollScript(runKey, offset), sudo), 30_000);
      const poll = parsePoll(answer.stdout);
      heard = Date.now();
      offset += poll.log.length;
      const lines = (rest + poll.log.toString()).split("\n");
      rest = lines.pop()!;
      tail.push(...lines);
      tail.splice(0, tail.length - TAIL_LINES);
      for (const line of thin(lines)) console.error(line);
      const over = !["active", "activating", "deactivating", "reloading"].includes(poll.state);
      if (over && poll.log.length === 0) { client.end(); return { ...poll, tail }; }
      if (over) continue;
    } catch (error) {
      if (error instanceof Fatal || error instanceof HostKeyError) throw error;
      client?.end();
      client = undefined;
      const silent = Date.now() - heard;
      if (silent > SILENCE_MS)
        throw new Error(`the driver node ${connection.host} has not answered for ${Math.round(silent / 1000)} s (${(error as Error).message}); the run goes on there, the next \`up\` picks it up`);
      console.error(`the driver node does not answer (${(error as Error).message}), trying again; the run goes on`);
    }
    await sleep(POLL_MS);
  }
}

/** Of the interval lines that came at once only the last is shown; everything else is. */
function thin(lines: string[]): string[] {
  const interval = (line: string): boolean => /\[ *\d+(\.\d+)?s *\]/.test(line);
  return lines.filter((line, i) => line !== "" && !(interval(line) && lines.slice(i + 1).some(interval)));
}

async function fetchResult({ connection, sudo, runKey }: CollectInput): Promise<RunResult | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      const client = await open(connection);
      const got = await run(client, `gzip -c ${RUNS_DIR}/${runKey}/result.json`, sudo);
      if (got.code !== 0) { client.end(); return undefined; }
      const result = runResultSchema.parse(JSON.parse(gunzipSync(got.stdout).toString()));
      const { proxy } = result.spec.context;
      if (proxy) proxy["routing"] = await routed(client, runKey, sudo);
      client.end();
      return result;
    } catch (error) {
      if (attempt === 5) throw error;
      await sleep(1000 * attempt);
    }
  }
}

/** What the proxy routed during the run; undefined for a proxy that does not count, or did not answer. */
async function routed(client: Client, runKey: string, sudo: boolean): Promise<Record<string, number> | undefined> {
  const [before, after] = [await reading("before"), await reading("after")];
  return before && after && countersBetween(before, after);

  async function reading(when: string): Promise<Record<string, number> | undefined> {
    const got = await run(client, `cat ${RUNS_DIR}/${runKey}/routing-${when}.json`, sudo);
    try { return JSON.parse(got.stdout.toString()) as Record<string, number>; } catch { return undefined; }
  }
}

async function open(connection: Connection): Promise<Client> {
  const client = await connect(connection);
  client.on("error", () => { /* seen as a broken run() */ });
  return client;
}

async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => { timer = setTimeout(() => reject(new Error("no answer")), ms); });
  try { return await Promise.race([promise, late]); } finally { clearTimeout(timer); }
}

class Fatal extends Error {}
