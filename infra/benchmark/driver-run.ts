/** The run on one driver node, seen from the operator's machine. */

import { gunzipSync } from "node:zlib";
import type { Client } from "ssh2";
import { type RunResult, runResultSchema } from "../../workloads/contract.ts";
import { countersBetween } from "../proxies/maxscale-facts.ts";
import { answered, type Connection, connect, HostKeyError, run, sleep } from "../ssh.ts";
import { isOver, type Poll, parsePoll, pollScript, RUNS_DIR, restartScript, startScript } from "./unit.ts";

export interface DriverNode {
  name: string;
  connection: Connection;
  sudo: boolean;
}

export interface Ended extends Poll {
  tail: string[];
}

/** How long a driver may stay silent before this side gives up; the run itself goes on. */
const SILENCE_MS = Number(process.env["MESHBENCH_SILENCE_SECONDS"] ?? 600) * 1000;
/** Drivers end together: when one has, another one that does not answer has had its time. */
const SILENCE_AFTER_OTHERS_MS = Math.min(SILENCE_MS, 60_000);
const POLL_MS = 1000;
const TAIL_LINES = 15;

class Fatal extends Error {}

export class DriverRun {
  readonly node: DriverNode;
  readonly #runKey: string;
  readonly #say: (line: string) => void;
  readonly #showsIntervals: boolean;
  #client: Client | undefined;
  #heard = performance.now();

  /**
   * @param label before each line, empty for the only driver @param showsIntervals of several drivers only one shows
   * its progress
   */
  constructor(node: DriverNode, runKey: string, label: string, showsIntervals: boolean) {
    this.node = node;
    this.#runKey = runKey;
    this.#say = (line) => console.error(label + line);
    this.#showsIntervals = showsIntervals;
  }

  /** Starts the run unless it is under way or has completed. */
  async start(): Promise<void> {
    await this.#script(startScript(this.#runKey));
  }

  /** Starts it again, whatever its state. */
  async restart(): Promise<void> {
    await this.#script(restartScript(this.#runKey));
  }

  /** Under way, or completed. */
  async isGood(): Promise<boolean> {
    const poll = await this.#lasting(async (client) =>
      parsePoll((await run(client, pollScript(this.#runKey, 0), this.node.sudo)).stdout),
    );
    return !isOver(poll) || poll.exit === 0;
  }

  async #script(script: string): Promise<void> {
    await this.#lasting(async (client) => {
      const start = await run(client, script, this.node.sudo);
      if (start.code !== 0)
        throw new Fatal(`the run could not be started on ${this.node.name}: ${start.stderr.trim()}`);
    });
  }

  /** Resolves when the unit has ended. Rejects after a long silence. */
  async follow(othersEnded: () => boolean): Promise<Ended> {
    let offset = 0,
      rest = "";
    const tail: string[] = [];
    for (;;) {
      const poll = await this.#lasting(
        async (client) =>
          parsePoll((await answered(run(client, pollScript(this.#runKey, offset), this.node.sudo), 30_000)).stdout),
        othersEnded,
      );
      offset += poll.log.length;
      const lines = (rest + poll.log.toString()).split("\n");
      rest = lines.pop()!;
      tail.push(...lines);
      tail.splice(0, tail.length - TAIL_LINES);
      for (const line of this.#shown(lines)) this.#say(line);
      if (!isOver(poll)) await sleep(POLL_MS);
      else if (poll.log.length === 0) return { ...poll, tail };
    }
  }

  /** Of the interval lines that came at once only the last is shown; everything else is. */
  #shown(lines: string[]): string[] {
    const interval = (line: string): boolean => /\[ *\d+(\.\d+)?s *\]/.test(line);
    return lines.filter(
      (line, i) => line !== "" && !(interval(line) && (!this.#showsIntervals || lines.slice(i + 1).some(interval))),
    );
  }

  /** Undefined when the run has left none. */
  async result(): Promise<RunResult | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const client = await this.#open();
        const got = await run(client, `gzip -c ${RUNS_DIR}/${this.#runKey}/result.json`, this.node.sudo);
        if (got.code !== 0) return undefined;
        const result = runResultSchema.parse(JSON.parse(gunzipSync(got.stdout).toString()));
        const { proxy } = result.spec.context;
        if (proxy) proxy["routing"] = await this.#routed(client);
        return result;
      } catch (error) {
        this.close();
        if (attempt === 5) throw error;
        await sleep(1000 * attempt);
      }
    }
  }

  /** What the proxy routed during the run; undefined for a proxy that does not count, or did not answer. */
  async #routed(client: Client): Promise<Record<string, number> | undefined> {
    const reading = async (when: string): Promise<Record<string, number> | undefined> => {
      const got = await run(client, `cat ${RUNS_DIR}/${this.#runKey}/routing-${when}.json`, this.node.sudo);
      try {
        return JSON.parse(got.stdout.toString()) as Record<string, number>;
      } catch {
        return undefined;
      }
    };
    const [before, after] = [await reading("before"), await reading("after")];
    return before && after && countersBetween(before, after);
  }

  close(): void {
    this.#client?.end();
    this.#client = undefined;
  }

  async #open(): Promise<Client> {
    if (this.#client) return this.#client;
    this.#client = await connect(this.node.connection);
    this.#client.on("error", () => {
      /* seen as a broken run() */
    });
    return this.#client;
  }

  /** Takes a connection that breaks up again, until the driver has been silent for too long. */
  async #lasting<T>(ask: (client: Client) => Promise<T>, othersEnded: () => boolean = () => false): Promise<T> {
    for (;;) {
      try {
        const answer = await ask(await this.#open());
        this.#heard = performance.now();
        return answer;
      } catch (error) {
        if (error instanceof Fatal || error instanceof HostKeyError) throw error;
        this.close();
        const silent = performance.now() - this.#heard;
        if (silent > (othersEnded() ? SILENCE_AFTER_OTHERS_MS : SILENCE_MS))
          throw new Error(
            `the driver node ${this.node.connection.host} has not answered for ${Math.round(silent / 1000)} s (${(error as Error).message})${othersEnded() ? "" : "; the run goes on there, the next `up` picks it up"}`,
          );
        this.#say(
          `the driver node does not answer (${(error as Error).message}), trying again${othersEnded() ? "" : "; the run goes on"}`,
        );
      }
      await sleep(POLL_MS);
    }
  }
}
