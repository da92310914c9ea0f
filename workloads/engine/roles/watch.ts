/**
 * Asks the database nodes which of them takes writes, all along and each on a connection of its own: one that hangs
 * keeps nobody from hearing of the others. Every second while there is a primary, five times a second while there is
 * none.
 */
import type { Endpoint, RunSpec } from "../../contract.ts";
import type { NodeRole, RoleQuestion } from "../../dialects/dialect.ts";
import { dialectOf } from "../../dialects/index.ts";
import { ask } from "../../drivers/ask.ts";
import type { Connection, ConnectOptions, Driver } from "../../drivers/driver.ts";
import { epochNow } from "../clock.ts";
import { primariesOf, type RoleSource, type Roles } from "./roles.ts";

const SETTLED_EVERY_MS = 1000;
const SEARCHING_EVERY_MS = 200;
const ANSWER_MS = 1000;
/** About four round trips, across the world too. */
const CONNECT_MS = 2000;
/** Before the first window; a node that is down is known as such by then. */
export const FIRST_ROUND_MS = CONNECT_MS + ANSWER_MS;

interface Asked {
  readonly node: Endpoint;
  role: NodeRole | undefined;
  /** Number of the promotion that was seen last; 0: it has been primary since it was first heard of, or never. */
  promoted: number;
  /** Said itself to be a replica the last time that it said anything. */
  wasReplica: boolean;
  /** performance.now(); answers to questions from before it do not count. */
  doubtedAt: number;
  connection: Connection | null;
  wake: (() => void) | null;
}

/** Moments of epochNow(). */
export interface Reign {
  at: number;
  nodes: string[];
}

/** What the spec asks by, or one line that says why nobody can be asked so. */
export function roleQuestion({ target }: Pick<RunSpec, "target">): RoleQuestion | undefined {
  if (target.roles === undefined) return undefined;
  const { roles } = dialectOf(target);
  const question = roles[target.roles.rule];
  if (question === undefined)
    throw new Error(
      `target.roles.rule: "${target.roles.rule}"; expected ${Object.keys(roles).join(" or ")} with driver ${target.driver}`,
    );
  return question;
}

export class RoleWatch implements RoleSource {
  current: Roles = {};
  /** Who has been primary from when on. */
  readonly reigns: Reign[] = [];
  readonly #driver: Driver;
  readonly #options: ConnectOptions;
  readonly #question: RoleQuestion;
  readonly #several: boolean;
  readonly #asked: Asked[];
  readonly #listeners = new Set<(roles: Roles) => void>();
  #promotions = 0;
  #stopped = false;

  constructor(
    { rule, nodes }: NonNullable<RunSpec["target"]["roles"]>,
    question: RoleQuestion,
    driver: Driver,
    options: ConnectOptions,
  ) {
    this.#driver = driver;
    this.#options = { ...options, connectTimeoutMs: Math.min(options.connectTimeoutMs, CONNECT_MS) };
    this.#question = question;
    // A group agrees on its members' roles, and may have several primaries. Elsewhere an old primary that is cut off,
    // or has come back, may still believe that it is one.
    this.#several = rule === "group";
    this.#asked = nodes.map((node) => ({
      node,
      role: undefined,
      promoted: 0,
      wasReplica: false,
      doubtedAt: -Infinity,
      connection: null,
      wake: null,
    }));
  }

  /** Resolves when each node has answered, or failed to, once. */
  async start(): Promise<void> {
    await Promise.all(
      this.#asked.map(async (asked) => {
        await this.#ask(asked);
        this.#look();
        void this.#follow(asked);
      }),
    );
  }

  subscribe(listener: (roles: Roles) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  doubt(name: string): void {
    const asked = this.#asked.find(({ node }) => node.name === name);
    if (asked === undefined) return;
    asked.doubtedAt = performance.now();
    asked.role = undefined;
    this.#look();
    for (const { wake } of this.#asked) wake?.();
  }

  stop(): void {
    this.#stopped = true;
    for (const { wake, connection } of this.#asked) {
      wake?.();
      connection?.destroy();
    }
  }

  async #follow(asked: Asked): Promise<void> {
    while (!this.#stopped) {
      const pause = primariesOf(this.current).length > 0 ? SETTLED_EVERY_MS : SEARCHING_EVERY_MS;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        asked.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      asked.wake = null;
      if (this.#stopped) return;
      await this.#ask(asked);
      this.#look();
    }
  }

  async #ask(asked: Asked): Promise<void> {
    const at = performance.now();
    let role: NodeRole | undefined;
    try {
      asked.connection ??= await this.#driver.connect(asked.node, this.#options);
      const [row = []] = await ask(asked.connection, this.#question.sql, ANSWER_MS);
      role = this.#question.role(row);
      this.#hearOfLoss(asked, asked.connection);
    } catch {
      asked.connection?.destroy();
      asked.connection = null;
    }
    if (this.#stopped) return asked.connection?.destroy();
    if (at < asked.doubtedAt) return this.#ask(asked);
    if (role === "primary" && asked.wasReplica) asked.promoted = ++this.#promotions;
    if (role !== undefined) asked.wasReplica = role === "replica";
    asked.role = role;
  }

  /** A server that ends while nobody asks it anything. */
  #hearOfLoss(asked: Asked, connection: Connection): void {
    connection.listener = {
      done() {},
      failed() {},
      lost: () => {
        if (asked.connection !== connection) return;
        asked.connection = null;
        asked.role = undefined;
        this.#look();
        asked.wake?.();
      },
    };
  }

  /** Of several that say so, the one that was promoted last, before that the one that the spec calls primary. */
  #look(): void {
    const claims = this.#asked.filter(({ role }) => role === "primary");
    const [newest] = claims.toSorted(
      (a, b) => b.promoted - a.promoted || Number(b.node.role === "primary") - Number(a.node.role === "primary"),
    );
    const roles: Roles = Object.fromEntries(
      this.#asked.flatMap((asked): [string, NodeRole][] =>
        asked.role === undefined || (asked.role === "primary" && !this.#several && asked !== newest)
          ? []
          : [[asked.node.name, asked.role]],
      ),
    );
    if (JSON.stringify(roles) === JSON.stringify(this.current)) return;
    const nodes = primariesOf(roles);
    if (this.reigns.length === 0 || String(primariesOf(this.current)) !== String(nodes))
      this.reigns.push({ at: epochNow(), nodes });
    this.current = roles;
    for (const listener of this.#listeners) listener(roles);
  }
}

/** How it stood at the opening, and every change until the close; seconds since the opening. */
export function reignsOf(reigns: readonly Reign[], open: number, close: number): { t: number; nodes: string[] }[] {
  const before = reigns.findLast(({ at }) => at <= open);
  return [
    { t: 0, nodes: before?.nodes ?? [] },
    ...reigns
      .filter(({ at }) => at > open && at <= close)
      .map(({ at, nodes }) => ({ t: Math.round(at - open) / 1000, nodes })),
  ];
}
