// Proves: the comparison's arithmetic, and that its relay delays bytes and keeps their order. No database.
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import { relay } from "../../bench/engine-relay.ts";
import { loadFigures, median, missedAims, prepareFigures } from "../../bench/engine-report.ts";
import { tpsOf } from "../../bench/engine-sides.ts";

test("medians of pairs, ratios pair by pair", () => {
  assert.deepEqual([median([3, 1, 2]), median([4, 1, 2, 3]), median([5])], [2, 2.5, 5]);
  const run = (
    tps: number,
    cpu: number,
    memory: number,
  ): { tps: number; cpuPerTransactionUs: number; peakMemoryMb: number } => ({
    tps,
    cpuPerTransactionUs: cpu,
    peakMemoryMb: memory,
  });
  const figures = loadFigures({
    workload: "oltp_read_only",
    threads: 4,
    // The machine was twice as slow in the second pair: the ratios do not see it.
    pairs: [
      { ours: run(110, 10, 1), sysbench: run(100, 20, 2) },
      { ours: run(55, 20, 3), sysbench: run(50, 40, 1) },
      { ours: run(110, 10, 1), sysbench: run(100, 20, 1) },
    ],
  });
  assert.deepEqual(
    [
      figures.tpsOurs,
      figures.tpsSysbench,
      figures.tpsRatio,
      figures.cpuRatio,
      figures.memoryMbOurs,
      figures.memoryMbSysbench,
    ],
    [110, 100, 1.1, 0.5, 3, 2],
  );
});

test("aims that are missed are named", () => {
  const base = {
    workload: "w",
    pairs: 5,
    tpsOurs: 1,
    tpsSysbench: 1,
    cpuUsOurs: 1,
    cpuUsSysbench: 1,
    memoryMbOurs: 1,
    memoryMbSysbench: 1,
  };
  const whole = (seconds: number): { seconds: number; cpuSeconds: number; peakMemoryMb: number } => ({
    seconds,
    cpuSeconds: 1,
    peakMemoryMb: 1,
  });
  const near = prepareFigures({ link: "loopback", rows: 100, pairs: [{ ours: whole(1), sysbench: whole(2) }] });
  const far = prepareFigures({ link: "far", rows: 100, pairs: [{ ours: whole(2), sysbench: whole(4) }] });
  assert.deepEqual(
    missedAims(
      [
        { ...base, threads: 4, tpsRatio: 1.2, cpuRatio: 0.9 },
        { ...base, threads: 1, tpsRatio: 1, cpuRatio: 1.3 },
      ],
      [near],
    ),
    [],
  );
  assert.deepEqual(missedAims([{ ...base, threads: 4, tpsRatio: 0.9, cpuRatio: 1.1 }], [near, far]), [
    "w, 4 threads: TPS 0.900 times sysbench's, aim >= 1.0",
    "w, 4 threads: CPU per transaction 1.100 times sysbench's, aim <= 1",
    "prepare: 2.00 times as long over the link as on loopback, aim <= 1.3",
  ]);
});

test("results of both programs are read", () => {
  assert.equal(tpsOf("sysbench", "    transactions:                        2617   (653.88 per sec.)\n"), 653.88);
  assert.equal(tpsOf("ours", 'a line\n{"schema":1,"steps":[{"tps":12.5,"driver":{}}]}\n'), 12.5);
  assert.ok(Number.isNaN(tpsOf("ours", "nothing")));
});

test("the relay hands bytes on in order, later by the delay in each direction", async () => {
  const echo = createServer((socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  const through = await relay((echo.address() as AddressInfo).port, 20);
  try {
    const socket = connect({ port: through.port, host: "127.0.0.1", noDelay: true });
    const sent = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 31) & 0xff));
    const started = performance.now();
    for (let at = 0; at < sent.length; at += 7001) socket.write(sent.subarray(at, at + 7001));
    socket.end();
    const chunks: Buffer[] = [];
    let first = 0;
    for await (const chunk of socket) {
      first ||= performance.now() - started;
      chunks.push(chunk as Buffer);
    }
    assert.ok(Buffer.concat(chunks).equals(sent));
    // Timers never fire early by more than a millisecond.
    assert.ok(first >= 38, `first byte back after ${first} ms`);
  } finally {
    through.close();
    echo.close();
  }
});
