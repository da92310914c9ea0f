/** Looks at the database nodes through SQL while a run goes on. It never throws into the run. */
import pTimeout from "p-timeout";
import type { RunSpec, Target } from "../contract.ts";
import { dialectOf } from "../dialects/index.ts";
import { shown } from "../drivers/address.ts";
import type { Session } from "../sql-session.ts";
import { describe, openSession } from "../sql-session.ts";
import type { NodeSample } from "./delta.ts";
import type { Values } from "./names.ts";

export type { NodeSample, ServerFacts } from "./delta.ts";
export { deltas } from "./delta.ts";

export interface Observer {
  /** One entry per node, in the spec's order; resolves within `timeoutMs` whatever the nodes do. */
  sample(): Promise<NodeSample[]>;
  /** Version and the variables that matter, by node; a node that does not answer is absent. */
  variables(): Promise<Record<string, Record<string, string>>>;
  close(): void;
}

/**
 * A round trip across the world is 0.3 s; connecting takes about four. A node slower than this is shown as not
 * answering.
 */
const DEFAULT_TIMEOUT_MS = 2000;

export async function openObserver(
  target: Target,
  nodes: RunSpec["observe"],
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<Observer> {
  const watched = nodes.map((node) => new WatchedNode(target, node, timeoutMs));
  let closed = false;
  return {
    sample: () => Promise.all(watched.map((node) => node.sample())),
    async variables() {
      const answers = await Promise.all(watched.map((node) => node.variables()));
      return Object.fromEntries(watched.flatMap((node, i) => (answers[i] ? [[node.name, answers[i]] as const] : [])));
    },
    close() {
      if (closed) return;
      closed = true;
      for (const node of watched) node.close();
    },
  };
}

class WatchedNode {
  readonly name: string;
  readonly #target: Target;
  readonly #node: RunSpec["observe"][number];
  readonly #timeoutMs: number;
  readonly #sample: (session: Session, timeoutMs: number) => Promise<Values>;
  #session: Session | undefined;
  #closed = false;
  /** Samples of one node queue up behind each other: a connection carries one statement at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(target: Target, node: RunSpec["observe"][number], timeoutMs: number) {
    this.#target = target;
    this.#node = node;
    this.#timeoutMs = timeoutMs;
    this.name = node.name;
    this.#sample = dialectOf(target).sampler();
  }

  async sample(): Promise<NodeSample> {
    const answer = await this.#ask(this.#sample);
    return "error" in answer
      ? { node: this.name, at: Date.now(), error: answer.error }
      : { node: this.name, at: Date.now(), values: answer.value };
  }

  async variables(): Promise<Record<string, string> | undefined> {
    const answer = await this.#ask(dialectOf(this.#target).variables);
    return "error" in answer ? undefined : answer.value;
  }

  close(): void {
    this.#closed = true;
    this.#session?.close();
    this.#session = undefined;
  }

  #ask<T>(question: (session: Session, timeoutMs: number) => Promise<T>): Promise<{ value: T } | { error: string }> {
    const turn = this.#last.then(() => this.#attempt(question));
    this.#last = turn;
    return pTimeout(turn, {
      milliseconds: this.#timeoutMs,
      fallback: () => ({ error: `${shown(this.#node)}: no answer within ${this.#timeoutMs} ms` }),
    });
  }

  /**
   * A session that was there may have been lost since the last sample, by a restart or an idle limit between here and
   * the server: once more over a new one. What that one says is the sample, or the gap in it.
   */
  async #attempt<T>(
    question: (session: Session, timeoutMs: number) => Promise<T>,
  ): Promise<{ value: T } | { error: string }> {
    const deadline = performance.now() + this.#timeoutMs;
    const old = this.#session !== undefined;
    const answer = await this.#once(question, this.#timeoutMs);
    const left = deadline - performance.now();
    return old && "error" in answer && left > 0 ? this.#once(question, left) : answer;
  }

  async #once<T>(
    question: (session: Session, timeoutMs: number) => Promise<T>,
    timeoutMs: number,
  ): Promise<{ value: T } | { error: string }> {
    if (this.#closed) return { error: "the observer is closed" };
    try {
      this.#session ??= await openSession(this.#target, this.#node, {
        connectTimeoutMs: timeoutMs,
        noDatabase: true,
      });
      if (this.#closed) throw new Error("the observer is closed");
      return { value: await question(this.#session, timeoutMs) };
    } catch (error) {
      this.#session?.close();
      this.#session = undefined;
      return { error: describe(error, this.#node, this.#target) };
    }
  }
}
