/**
 * Replication lag as a client sees it: a row is counted up on the node that takes the writes, and the other nodes are
 * asked for it until they show it. One clock, the driver's, times both; a moment on a server is half of the least round
 * trip before its answer was heard. On connections of its own, with one small statement at a time.
 */
import type { Endpoint, Heartbeat as HeartbeatResult, Lag, RunSpec } from "../../contract.ts";
import { ask } from "../../drivers/ask.ts";
import type { Connection, ConnectOptions, Driver } from "../../drivers/driver.ts";
import { DriverError } from "../../drivers/driver.ts";
import { within } from "../within.ts";
import { Beats } from "./beats.ts";

/** In the run's own database; nothing compares or counts it. */
export const HEARTBEAT_TABLE = "meshbench_heartbeat";
const LOOK = `SELECT seq FROM ${HEARTBEAT_TABLE} WHERE id = 1`;

const ANSWER_MS = 5000;
const CONNECT_MS = 2000;
/** For the table to appear on the replicas before the first window, and for the last beats after each. */
const APPEAR_MS = 10_000;
const GRACE_MS = 1000;
/** Between two looks for a beat that is not there: a twentieth of the time that it has been away, so 5 % of its lag. */
const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;
const AFTER_ERROR_MS = 200;

/** A node and the connection that this has to it. */
class Line {
  readonly node: Endpoint;
  readonly #driver: Driver;
  readonly #options: ConnectOptions;
  #connection: Connection | null = null;
  #closed = false;
  /** Of the quickest answer, milliseconds. */
  leastMs = Infinity;
  asked = 0;

  constructor(node: Endpoint, driver: Driver, options: ConnectOptions) {
    this.node = node;
    this.#driver = driver;
    this.#options = options;
  }

  /** @returns the first value of the first row, and when the server had it, by performance.now() */
  async ask(sql: string, reads: boolean): Promise<{ value: number; at: number }> {
    try {
      const connection = (this.#connection ??= await this.#driver.connect(this.node, this.#options));
      if (this.#closed) throw new DriverError("closed", "the heartbeat has ended", "reconnect");
      const sent = performance.now();
      this.asked++;
      const [row] = await ask(connection, sql, ANSWER_MS);
      const heard = performance.now();
      // A write also waits for the disk and for other nodes: only a read tells the way.
      if (reads) this.leastMs = Math.min(this.leastMs, heard - sent);
      return { value: Number(row?.[0] ?? Number.NaN), at: heard - (this.leastMs === Infinity ? 0 : this.leastMs / 2) };
    } catch (error) {
      this.#connection?.destroy();
      this.#connection = null;
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    this.#connection?.destroy();
  }
}

/** Names of the nodes that take writes now; empty while there is none. Beats go to the first until one fails there. */
export type Writers = () => readonly string[];

export class Heartbeat {
  readonly #everyMs: number;
  readonly #writers: Writers;
  readonly #writeLines: Map<string, Line>;
  readonly #readLines: Map<string, Line>;
  #seq = 0;
  #beats: Beats | null = null;
  #skipped = 0;
  #writeErrors: Record<string, number> = {};
  #wroteTo = new Set<string>();
  #asked = 0;
  #turn = 0;
  #wake: (() => void)[] = [];
  #loops: Promise<unknown>[] = [];

  constructor(
    { observe, heartbeat }: Pick<RunSpec, "observe"> & { heartbeat: NonNullable<RunSpec["heartbeat"]> },
    writers: Writers,
    driver: Driver,
    options: Omit<ConnectOptions, "connectTimeoutMs">,
  ) {
    const lines = (): Map<string, Line> =>
      new Map(
        observe.map((node) => [
          node.name,
          new Line({ ...node, role: "any" }, driver, { ...options, connectTimeoutMs: CONNECT_MS }),
        ]),
      );
    this.#everyMs = heartbeat.everyMs;
    this.#writers = writers;
    this.#writeLines = lines();
    this.#readLines = lines();
  }

  /**
   * Makes the table and waits until the nodes that answer show it. Rejects with one line when the node that takes the
   * writes does not take this one.
   */
  async start(): Promise<void> {
    const writer = this.#writer();
    if (writer === undefined) throw new Error("no node takes writes");
    for (const sql of [
      `CREATE TABLE IF NOT EXISTS ${HEARTBEAT_TABLE} (id INT NOT NULL PRIMARY KEY, seq BIGINT NOT NULL)`,
      `DELETE FROM ${HEARTBEAT_TABLE} WHERE id = 1`,
      `INSERT INTO ${HEARTBEAT_TABLE} (id, seq) VALUES (1, 0)`,
    ])
      await writer.ask(sql, false);
    for (let i = 0; i < 3; i++) await writer.ask(LOOK, true);
    const deadline = performance.now() + APPEAR_MS;
    await Promise.all(
      [...this.#readLines.values()].map(async (line) => {
        while (performance.now() < deadline) {
          const seen = await line.ask(LOOK, true).catch(() => null);
          if (seen !== null && seen.value === 0) return;
          await pause(100);
        }
      }),
    );
  }

  /** A window opens: from here on beats count. */
  open(intervalSeconds: number): void {
    this.#beats = new Beats([...this.#readLines.keys()], intervalSeconds);
    this.#beats.open(performance.now());
    this.#skipped = 0;
    this.#writeErrors = {};
    this.#wroteTo = new Set();
    this.#asked = this.#statements();
    this.#loops = [this.#beat(this.#beats), ...[...this.#readLines.values()].map((l) => this.#follow(l, this.#beats!))];
  }

  /** The window has closed: waits a moment for what is on its way. Undefined where none was open. */
  async close(): Promise<{ lag: Lag[]; heartbeat: HeartbeatResult } | undefined> {
    const beats = this.#beats;
    if (beats === null) return undefined;
    const names = [...this.#readLines.keys()];
    const deadline = performance.now() + GRACE_MS;
    this.#beats = null;
    while (performance.now() < deadline && names.some((name) => beats.oldestWaiting(name) !== undefined))
      await pause(5);
    const lag = beats.close(performance.now());
    this.#everybody();
    await within(Promise.all(this.#loops), ANSWER_MS);
    return {
      lag,
      heartbeat: {
        everyMs: this.#everyMs,
        writers: [...this.#wroteTo],
        committed: beats.committed,
        skipped: this.#skipped,
        errors: this.#writeErrors,
        statements: this.#statements() - this.#asked,
      },
    };
  }

  /** Drops the table where it can. Never rejects. */
  async end(): Promise<void> {
    this.#beats = null;
    this.#everybody();
    const writer = this.#writer();
    if (writer !== undefined)
      await within(writer.ask(`DROP TABLE IF EXISTS ${HEARTBEAT_TABLE}`, false), ANSWER_MS).catch(() => {});
    for (const line of [...this.#writeLines.values(), ...this.#readLines.values()]) line.close();
  }

  #writer(): Line | undefined {
    const lines = this.#writers().flatMap((name) => this.#writeLines.get(name) ?? []);
    return lines[this.#turn % Math.max(1, lines.length)];
  }

  #statements(): number {
    return [...this.#writeLines.values(), ...this.#readLines.values()].reduce((sum, { asked }) => sum + asked, 0);
  }

  async #beat(beats: Beats): Promise<void> {
    let due = performance.now();
    while (this.#beats === beats) {
      const late = Math.floor((performance.now() - due) / this.#everyMs);
      // One at a time: where a commit takes longer than the period, beats are left out.
      if (late > 0) {
        this.#skipped += late;
        due += late * this.#everyMs;
      }
      await pause(Math.max(0, due - performance.now()));
      due += this.#everyMs;
      if (this.#beats !== beats) return;
      await this.#write(beats);
    }
  }

  async #write(beats: Beats): Promise<void> {
    const writer = this.#writer();
    if (writer === undefined) {
      this.#fault("no primary");
      return;
    }
    const seq = ++this.#seq;
    try {
      const { at } = await writer.ask(`UPDATE ${HEARTBEAT_TABLE} SET seq = ${seq} WHERE id = 1`, false);
      if (this.#beats !== beats) return;
      this.#wroteTo.add(writer.node.name);
      beats.commit(seq, at, writer.node.name);
      this.#everybody();
    } catch (error) {
      if (this.#beats !== beats) return;
      this.#fault(codeOf(error));
      // Where several nodes take writes, another one may.
      this.#turn++;
      await pause(AFTER_ERROR_MS);
    }
  }

  #fault(code: string): void {
    this.#writeErrors[code] = (this.#writeErrors[code] ?? 0) + 1;
  }

  /** Looks at one node for as long as it owes a beat. */
  async #follow(line: Line, beats: Beats): Promise<void> {
    const { name } = line.node;
    let lookedAt = performance.now();
    const owed = (): ReturnType<Beats["oldestWaiting"]> => beats.oldestWaiting(name);
    while (this.#beats === beats || owed() !== undefined) {
      const beat = owed();
      if (beat === undefined) {
        await new Promise<void>((resolve) => this.#wake.push(resolve));
        continue;
      }
      try {
        const { value, at } = await line.ask(LOOK, true);
        beats.see(name, value, at, at - lookedAt);
        lookedAt = at;
        const away = performance.now() - beat.committedAt;
        if (owed() === beat) await pause(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, away / 20)));
      } catch (error) {
        beats.fail(name, codeOf(error));
        await pause(AFTER_ERROR_MS);
      }
    }
  }

  #everybody(): void {
    for (const go of this.#wake.splice(0)) go();
  }
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const codeOf = (error: unknown): string => (error instanceof DriverError ? error.code : (error as Error).name);
