/**
 * Proves: every count belongs to the moment at which it happens. Whatever fails, in a closed and in an open loop, with
 * and without a warm-up: the intervals add up to the window, and connecting, warm-up, window and drain to all that the
 * server was asked. The server is a stand-in inside the process that keeps its own books.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Endpoint } from "../../../workloads/contract.ts";
import { runSpecSchema } from "../../../workloads/contract.ts";
import type {
  Connection,
  Driver,
  Listener,
  Pipelining,
  Statement,
  StatementSpec,
} from "../../../workloads/drivers/driver.ts";
import { DriverError } from "../../../workloads/drivers/driver.ts";
import type { IntervalReport, PartReport, Tally } from "../../../workloads/engine/figures/counters.ts";
import { addTally, tally, unpack } from "../../../workloads/engine/figures/counters.ts";
import { Part } from "../../../workloads/engine/part/part.ts";
import { pipeline } from "../../../workloads/ops.ts";
import { planStep } from "../../../workloads/steps.ts";

type Fault = "none" | "restart" | "retry" | "reconnect" | "lost" | "refuse-connection" | "wrong-rows" | "slow";

/** What the stand-in was asked, by the rules of the contract. */
class Books {
  read = 0;
  write = 0;
  other = 0;
  errors = 0;
  restarts = 0;
  commits = 0;
  rollbacks = 0;
  connections = 0;
  roundTrips = 0;
}

interface Script {
  faults: Fault[];
  /** One statement in so many meets the next fault. */
  every: number;
  delayMs: number;
  /** All operations of an event are declared to go together. */
  pipelining: Pipelining;
}

function standIn(script: Script, books: Books): Driver {
  let asked = 0;
  let fault = 0;
  const next = (): Fault => {
    if (++asked % script.every !== 0 || script.faults.length === 0) return "none";
    return script.faults[fault++ % script.faults.length] ?? "none";
  };
  class StandIn implements Connection {
    readonly path = "fast";
    readonly pipelining = script.pipelining;
    readonly endpoint: Endpoint;
    readonly serverVersion = "stand-in";
    readonly bytesRead = 0;
    readonly bytesWritten = 0;
    listener: Listener = { done() {}, failed() {}, lost() {} };
    #open = true;
    #group: [StatementSpec["kind"], string][] | null = null;
    constructor(endpoint: Endpoint) {
      this.endpoint = endpoint;
    }
    async prepare(specs: readonly StatementSpec[]): Promise<Statement[]> {
      return specs.map((spec) => ({
        spec,
        setInt() {},
        set() {},
        bytes: () => new Uint8Array(120),
        execute: () => this.#run(spec.kind, spec.sql),
      }));
    }
    query(sql: string | Uint8Array): void {
      this.#run("control", String(sql));
    }
    collect(): void {
      this.#group = [];
    }
    flush(): void {
      const group = this.#group ?? [];
      this.#group = null;
      this.#next(group);
    }
    #next([first, ...behind]: [StatementSpec["kind"], string][]): void {
      if (first === undefined) return;
      const what = next();
      setTimeout(() => {
        if (!this.#open) return;
        const failed = ["restart", "retry", "reconnect", "lost"].includes(what);
        const skips = failed && script.pipelining === "skips";
        const last = behind.length === 0 || skips || what === "reconnect" || what === "lost";
        this.#answer(what, ...first, last);
        if (!last) this.#next(behind);
      }, script.delayMs);
    }
    #run(kind: StatementSpec["kind"], sql: string): void {
      if (this.#group !== null) return void this.#group.push([kind, sql]);
      const what = sql === "ROLLBACK" ? "none" : next();
      setTimeout(
        () => {
          if (this.#open) this.#answer(what, kind, sql);
        },
        what === "slow" ? script.delayMs * 5 : script.delayMs,
      );
    }
    #answer(what: Fault, kind: StatementSpec["kind"], sql: string, last = true): void {
      if (last && what !== "lost") books.roundTrips++;
      if (what === "restart" || what === "retry" || what === "reconnect") {
        books.errors++;
        if (what === "restart") books.restarts++;
        return this.listener.failed(new DriverError(what, `told to ${what}`, what, what === "retry"));
      }
      if (what === "lost") {
        books.errors++;
        this.#open = false;
        return this.listener.lost(new DriverError("lost", "cut", "reconnect"));
      }
      if (kind === "read") books.read++;
      else if (kind === "write") books.write++;
      else books.other++;
      if (sql === "COMMIT") books.commits++;
      if (sql === "ROLLBACK") books.rollbacks++;
      this.listener.done(kind === "read" ? (what === "wrong-rows" ? 7 : 1) : 0, kind === "write" ? 1 : 0);
    }
    captureNext(): void {}
    takeRows(): null {
      return null;
    }
    async close(): Promise<void> {
      this.#open = false;
    }
    destroy(): void {
      this.#open = false;
    }
  }
  return {
    name: "null",
    library: { name: "none", version: "0" },
    sessionSetup: [],
    exactWriteCounts: true,
    async connect(endpoint) {
      if (script.faults.includes("refuse-connection") && ++books.connections % 3 === 1) {
        books.errors++;
        throw new DriverError("refused", "not now", "reconnect");
      }
      return new StandIn(endpoint);
    },
  };
}

interface Shape {
  workload: string;
  threads: number;
  warmupMs: number;
  windowMs: number;
  intervalMs: number;
  perSecond: number | null;
  events: number;
}

async function measure(
  shape: Shape,
  script: Script,
): Promise<{
  books: Books;
  intervals: IntervalReport[];
  report: PartReport;
}> {
  const spec = runSpecSchema.parse({
    runId: "books",
    target: {
      driver: "mysql",
      user: "none",
      endpoints: [{ name: "a", host: "a", port: 1 }],
      statementTimeoutMs: 400,
    },
    steps: [
      {
        workload: shape.workload,
        threads: shape.threads,
        warmupSeconds: shape.warmupMs / 1000,
        durationSeconds: shape.windowMs / 1000,
        intervalSeconds: shape.intervalMs / 1000,
        options: shape.events > 0 ? { events: shape.events } : {},
        ...(shape.perSecond === null ? {} : { rate: { perSecond: shape.perSecond, maxBacklog: 5 } }),
      },
    ],
  });
  const { plan: alone, options } = planStep(spec, 0);
  const plan = { ...alone, ops: pipeline(alone.ops) };
  const books = new Books();
  const intervals: IntervalReport[] = [];
  const task = { spec, step: 0, repeat: 0, loop: 0, loops: 1 };
  const part = new Part(task, plan, standIn(script, books), "", options.events, (interval) => intervals.push(interval));
  await part.connect(1000);
  const begin = performance.now() + 5;
  const open = begin + shape.warmupMs;
  const report = await part.run({ begin, open, close: open + shape.windowMs });
  return { books, intervals, report };
}

const total = (tallies: readonly Tally[]): Tally => {
  const sum = tally();
  for (const one of tallies) addTally(sum, one);
  return sum;
};

test("whatever fails: every statement, error and event is in exactly one phase", { timeout: 120_000 }, async () => {
  const fault = fc.constantFrom<Fault>(
    "none",
    "restart",
    "retry",
    "reconnect",
    "lost",
    "refuse-connection",
    "wrong-rows",
    "slow",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.record<Shape>({
        workload: fc.constantFrom("oltp_read_write", "oltp_update_index", "oltp_point_select"),
        threads: fc.integer({ min: 1, max: 6 }),
        warmupMs: fc.constantFrom(0, 45, 130),
        windowMs: fc.constantFrom(120, 250),
        intervalMs: fc.constantFrom(50, 100),
        perSecond: fc.constantFrom(null, 100, 2000),
        events: fc.constantFrom(0, 0, 40),
      }),
      fc.record<Script>({
        faults: fc.array(fault, { maxLength: 4 }),
        every: fc.integer({ min: 1, max: 40 }),
        delayMs: fc.constantFrom(0, 3, 20),
        pipelining: fc.constantFrom<Pipelining>("none", "goes-on", "skips"),
      }),
      async (shape, script) => {
        const { books, intervals, report } = await measure(shape, script);
        const window = intervals.filter((i) => i.index >= 0);
        const inWindow = total(window.map((i) => i.tally));
        const all = total([report.beforeStart, ...intervals.map((i) => i.tally), report.drain]);
        assert.deepEqual(
          {
            read: all.reads,
            write: all.writes,
            other: all.others,
            errors: all.errors,
            restarts: all.restarts,
            roundTrips: all.roundTrips,
            byCode: Object.values(all.byCode).reduce((a, b) => a + b, 0),
          },
          {
            read: books.read,
            write: books.write,
            other: books.other,
            errors: books.errors,
            restarts: books.restarts,
            roundTrips: books.roundTrips,
            byCode: books.errors,
          },
        );
        if (shape.workload === "oltp_read_write") assert.equal(all.events, books.commits);
        // On the grid: the lengths of the intervals are the window's.
        const length = 1000 * window.reduce((sum, i) => sum + i.seconds, 0);
        assert.ok(Math.abs(length - report.closedAfter) < 0.01, `${length} ms in intervals, ${report.closedAfter} ms`);
        assert.ok(report.closedAfter <= shape.windowMs + 0.01);
        const recorded = total(intervals.map((i) => i.tally)).events;
        const inHistograms = intervals.reduce((n, i) => n + unpack(i.latencies).count, 0);
        assert.equal(inHistograms, recorded);
        const late = unpack(report.late).count;
        assert.equal(late, report.drain.events + report.abandoned + report.backlogAtEnd);
        if (shape.perSecond !== null)
          assert.equal(
            report.offered + report.carriedIn,
            inWindow.events + report.drain.events + report.abandoned + report.dropped + report.backlogAtEnd,
          );
        if (shape.events > 0)
          assert.ok(
            inWindow.events + report.drain.events <= Math.max(shape.events, report.carriedIn),
            `${inWindow.events} of ${shape.events} events`,
          );
        for (const gap of [...report.gaps, ...report.idle]) assert.ok(gap.from >= 0 && (gap.to ?? Infinity) > gap.from);
      },
    ),
    { numRuns: 60, endOnFailure: true },
  );
});

const STEADY: Shape = {
  workload: "oltp_update_index",
  threads: 4,
  warmupMs: 100,
  windowMs: 300,
  intervalMs: 100,
  perSecond: null,
  events: 0,
};

test("errors of an event that began in the warm-up are the window's when they happen there", async () => {
  const { intervals, report } = await measure(STEADY, { faults: ["retry"], every: 1, delayMs: 2, pipelining: "none" });
  const window = total(intervals.filter((i) => i.index >= 0).map((i) => i.tally));
  assert.equal(window.events, 0);
  assert.ok(window.errors > 0, JSON.stringify(window));
  assert.equal(report.messages["retry"], "told to retry");
});

test("the warm-up uses up no events of the option", async () => {
  const { intervals } = await measure(
    { ...STEADY, events: 40, windowMs: 2000 },
    { faults: [], every: 1, delayMs: 1, pipelining: "none" },
  );
  assert.equal(total(intervals.filter((i) => i.index >= 0).map((i) => i.tally)).events, 40);
  assert.ok(total(intervals.filter((i) => i.index < 0).map((i) => i.tally)).events > 40);
});
