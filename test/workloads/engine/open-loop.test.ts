/** Open loop against a fake server that stalls for a known time: no coordinated omission. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { only, runEngine, specFor } from "../../../harness/servers/engine.ts";
import { FakeMysql } from "../../../harness/servers/fake-mysql.ts";
import { Arrivals } from "../../../workloads/engine/part/pacing.ts";
import { Random } from "../../../workloads/engine/random.ts";

let fake: FakeMysql;
before(async () => {
  fake = await FakeMysql.start();
});
after(() => fake.stop());

const RATE = 200;
const STALL_MS = 600;

test("a stall shows in every latency that it delayed, and in the service time of the events that met it only", async () => {
  const spec = specFor(
    [fake.port],
    [
      {
        workload: "oltp_point_select",
        threads: 2,
        warmupSeconds: 0.5,
        durationSeconds: 3,
        rate: { perSecond: RATE, arrivals: "constant" },
      },
    ],
  );
  let stalled = false;
  const window = only(
    await runEngine(spec, {
      onLine(line) {
        // After the window's first second.
        if (stalled || !/1\/1 \[ 1s \]/.test(line)) return;
        stalled = true;
        fake.stall();
        setTimeout(() => fake.resume(), STALL_MS);
      },
    }),
  );
  assert.ok(stalled);
  const expected = 3 * RATE;
  // A machine that is busy makes latencies longer, never shorter, and moves no arrival: the bounds below are one-sided.
  const { offered = 0, carriedIn = 0, backlogAtEnd = 0 } = window.openLoop!;
  assert.ok(Math.abs(offered - expected) <= 1, `${offered} events, ${expected} were due`);
  const { drained, abandoned } = window.drain!;
  assert.equal(window.transactions + drained + abandoned + backlogAtEnd, offered + carriedIn);
  assert.equal(window.openLoop!.dropped, 0);
  // An arrival t ms into the stall waits STALL_MS - t: the latencies of the RATE * STALL events are spread evenly up to
  // STALL_MS.
  const delayed = (RATE * STALL_MS) / 1000 / expected;
  const l = window.latency!;
  assert.ok(l.max >= STALL_MS - 10, `max ${l.max}`);
  // p95 lies 5 % from the top: at that share of the delayed events' uniform spread.
  const p95 = STALL_MS * (1 - 0.05 / delayed);
  assert.ok(l.p95 > p95 - 120, `p95 ${l.p95}, expected about ${p95}`);
  assert.ok(window.openLoop!.maxBacklog >= 0.8 * RATE * (STALL_MS / 1000), `backlog ${window.openLoop!.maxBacklog}`);
  // Two connections met the stall: nearly all service times are short, so that the omission that a closed loop makes is
  // visible.
  const s = window.serviceLatency!;
  assert.ok(s.p95 < l.p95 / 2 && s.max >= STALL_MS - 10, `service p95 ${s.p95}, max ${s.max}`);
  // Less what the driver itself stood still for.
  assert.ok(window.outage!.longestGapSeconds >= STALL_MS / 2000, `gap ${window.outage!.longestGapSeconds}`);
  assert.ok(window.outage!.firstSuccessAfter! > window.outage!.gapStartedAt! + 0.5);
});

test("what the warm-up could not do does not leak into the window", async () => {
  fake.stall();
  setTimeout(() => fake.resume(), 1000);
  const spec = specFor(
    [fake.port],
    [
      {
        workload: "oltp_point_select",
        threads: 4,
        warmupSeconds: 1,
        durationSeconds: 1,
        rate: { perSecond: 500, arrivals: "constant" },
      },
    ],
  );
  const window = only(await runEngine(spec));
  const { offered = 0, carriedIn = 0 } = window.openLoop!;
  assert.ok(Math.abs(offered - 500) <= 1, `${offered} events`);
  // What each connection had in hand, and nothing of the hundreds that had been due before.
  assert.ok(carriedIn <= 4 && window.transactions <= offered + carriedIn, `${carriedIn} events of the warm-up`);
});

test("the backlog is bounded: what comes on top is dropped and counted, what is left at the end is reported", async () => {
  fake.delay = () => 100;
  const spec = specFor(
    [fake.port],
    [
      {
        workload: "oltp_point_select",
        threads: 1,
        warmupSeconds: 0,
        durationSeconds: 1,
        rate: { perSecond: 300, arrivals: "constant", maxBacklog: 20 },
      },
    ],
  );
  const window = only(await runEngine(spec));
  fake.delay = () => 0;
  const { maxBacklog, dropped, backlogAtEnd } = window.openLoop! as unknown as {
    maxBacklog: number;
    dropped: number;
    backlogAtEnd: number;
  };
  assert.equal(maxBacklog, 20);
  assert.ok(backlogAtEnd >= 18 && backlogAtEnd <= 20, `${backlogAtEnd} left`);
  assert.ok(
    Math.abs(window.transactions + dropped + backlogAtEnd - 300) <= 2,
    `${window.transactions} + ${dropped} + ${backlogAtEnd}`,
  );
  assert.ok(window.openLoop!.achievedPerSecond < 0.1 * window.openLoop!.requestedPerSecond);
});

test("more drivers than connections: those that have one carry the whole rate and all the events", async () => {
  const shares = async (step: Record<string, unknown>) => {
    const runs = await Promise.all(
      [0, 1, 2].map((index) =>
        runEngine(
          specFor(
            [fake.port],
            [{ workload: "oltp_point_select", threads: 2, warmupSeconds: 0, durationSeconds: 1, ...step }],
            { spec: { drivers: { index, count: 3 } } },
          ),
        ),
      ),
    );
    return runs.map((run) => run.result.steps);
  };
  const rated = await shares({ rate: { perSecond: 400, arrivals: "constant" } });
  assert.deepEqual(
    rated.map((steps) => steps.length),
    [1, 1, 0],
    "the third has no connection",
  );
  const offered = rated.flat().map((w) => w.transactions + w.openLoop!.dropped + Number(w.openLoop!["backlogAtEnd"]));
  assert.ok(Math.abs(offered[0]! + offered[1]! - 400) <= 2, `${offered.join(" + ")} events`);
  assert.deepEqual(
    rated.flat().map((w) => w.openLoop!.requestedPerSecond),
    [200, 200],
  );
  const counted = await shares({ durationSeconds: 30, options: { events: 101 } });
  assert.deepEqual(
    counted.flat().map((w) => w.transactions),
    [51, 50],
  );
});

test("connections that drivers can't share evenly share the rate as they are shared", async () => {
  const windows = await Promise.all(
    [0, 1].map(async (index) =>
      only(
        await runEngine(
          specFor(
            [fake.port],
            [
              {
                workload: "oltp_point_select",
                threads: 3,
                warmupSeconds: 0,
                durationSeconds: 1,
                rate: { perSecond: 300, arrivals: "constant" },
              },
            ],
            { spec: { drivers: { index, count: 2 } } },
          ),
        ),
      ),
    ),
  );
  windows.forEach((w, i) => {
    const asked = [200, 100][i]!;
    assert.equal(w.openLoop!.requestedPerSecond, asked);
    const offered = w.transactions + w.openLoop!.dropped + Number(w.openLoop!["backlogAtEnd"]);
    assert.ok(Math.abs(offered - asked) <= 2, `${offered} of ${asked}`);
  });
});

test("constant arrivals are evenly spaced, Poisson ones have exponential gaps", () => {
  const gaps = (kind: "constant" | "poisson"): number[] => {
    const arrivals = new Arrivals(1000, kind, 200_000, new Random(3), 0, 100_000);
    arrivals.advance(100_000);
    const times: number[] = [];
    for (let due = arrivals.take(); due >= 0; due = arrivals.take()) times.push(due);
    return times.slice(1).map((t, i) => t - times[i]!);
  };
  assert.ok(gaps("constant").every((gap) => Math.abs(gap - 1) < 1e-6));
  const poisson = gaps("poisson");
  assert.ok(Math.abs(poisson.length - 100_000) < 1300, `${poisson.length} arrivals`);
  // Chi-square over ten bins of equal probability: -ln(1 - i / 10).
  const counts = new Array<number>(10).fill(0);
  for (const gap of poisson) counts[Math.min(9, Math.floor(10 * (1 - Math.exp(-gap))))]!++;
  const expected = poisson.length / 10;
  const chi = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  assert.ok(chi < 27.9, `chi-square ${chi} with 9 degrees of freedom`);
});

test("nothing is due before the schedule begins, or after it has ended", () => {
  const arrivals = new Arrivals(10, "constant", 5, new Random(1), 1000, 1350);
  arrivals.advance(999);
  assert.equal(arrivals.take(), -1);
  arrivals.advance(5000);
  assert.deepEqual(
    [arrivals.take(), arrivals.take(), arrivals.take(), arrivals.take(), arrivals.take()],
    [1000, 1100, 1200, 1300, -1],
  );
  assert.equal(arrivals.nextDue, Infinity);
});
