/**
 * Where drivers wait for each other: nobody goes before all are there, clocks are compared, and a loss ends the wait.
 */
import assert from "node:assert/strict";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Barrier, BarrierOptions } from "../../../workloads/engine/barrier/barrier.ts";
import { LEAD_MS } from "../../../workloads/engine/barrier/barrier.ts";
import { callBarrier } from "../../../workloads/engine/barrier/caller.ts";
import { keepBarrier } from "../../../workloads/engine/barrier/keeper.ts";
import { best, epochNow, offsetOf } from "../../../workloads/engine/clock.ts";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function meet(count: number, options: (index: number) => BarrierOptions = () => ({})): Promise<Barrier[]> {
  const port = await freePort();
  const place = (index: number) => ({ host: "127.0.0.1", port, key: "key", index, count });
  return Promise.all(
    Array.from({ length: count }, (_, i) =>
      i === 0 ? keepBarrier(place(0), "run-1", options(0)) : callBarrier(place(i), options(i)),
    ),
  );
}
const part = (all: Barrier[]): void => all.forEach((b) => b.close());

test("nobody goes before all have arrived, and all hear the same moment ahead of them", async () => {
  const all = await meet(3);
  assert.deepEqual(
    all.map((b) => b.runId),
    ["run-1", "run-1", "run-1"],
    "the first driver names the run",
  );
  for (const last of [0, 1, 2]) {
    let gone = 0;
    const early = all
      .filter((_, i) => i !== last)
      .map((b) =>
        b.arrive(`window ${last}`).then((go) => {
          gone++;
          return go;
        }),
      );
    await sleep(100);
    assert.equal(gone, 0);
    const asked = epochNow();
    const gos = [await all[last]!.arrive(`window ${last}`), ...(await Promise.all(early))];
    for (const go of gos) {
      assert.ok(go!.at > asked + LEAD_MS / 2, "there is time until then");
      assert.ok(
        Math.abs(go!.at - gos[0]!.at) <= 2 * Math.max(...gos.map((g) => g!.uncertaintyMs)),
        `${JSON.stringify(gos)}`,
      );
      assert.equal(go!.allOk, true);
    }
  }
  part(all);
});

test("a clock that is wrong by hours is seen, and the moment is the same in truth", async () => {
  const wrong = -7_200_123;
  const all = await meet(2, (index) => (index === 1 ? { clock: () => epochNow() + wrong } : {}));
  const [first, second] = await Promise.all(all.map((b) => b.arrive("window 0")));
  assert.ok(
    Math.abs(second!.offsetMs + wrong) <= second!.uncertaintyMs,
    `${second!.offsetMs} ± ${second!.uncertaintyMs}`,
  );
  assert.ok(Math.abs(second!.at - wrong - first!.at) <= second!.uncertaintyMs, "in its own clock");
  assert.ok(second!.uncertaintyMs < 50, `loopback is near: ${second!.uncertaintyMs}`);
  part(all);
});

test("the error of a compared clock is never above half of its round trip", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          there: fc.double({ min: 0, max: 500, noNaN: true }),
          back: fc.double({ min: 0, max: 500, noNaN: true }),
        }),
        { minLength: 1 },
      ),
      fc.integer({ min: -1e9, max: 1e9 }),
      (trips, ahead) => {
        const offsets = trips.map(({ there, back }) => offsetOf(1000, 1000 + there + ahead, 1000 + there + back));
        for (const { offsetMs, uncertaintyMs } of offsets)
          assert.ok(Math.abs(offsetMs - ahead) <= uncertaintyMs + 1e-6);
        assert.equal(best(offsets).uncertaintyMs, Math.min(...offsets.map((o) => o.uncertaintyMs)));
      },
    ),
  );
});

test("one that is not content is heard of by all", async () => {
  const all = await meet(3);
  const gos = await Promise.all(all.map((b, i) => b.arrive("end", i !== 1)));
  assert.deepEqual(
    gos.map((go) => go!.allOk),
    [false, false, false],
  );
  part(all);
});

test("a driver that stops, first or not, ends the wait of the others with its reason", async () => {
  for (const stopping of [0, 1]) {
    const all = await meet(3);
    const waits = all.map((b, i) => (i === stopping ? null : b.arrive("window 0")));
    await sleep(50);
    all[stopping]!.close("SIGTERM");
    for (const wait of waits) if (wait) assert.equal(await wait, undefined);
    for (const [i, b] of all.entries())
      if (i !== stopping) {
        assert.equal(b.lost.aborted, true);
        assert.match(String(b.lost.reason), /SIGTERM/);
      }
    assert.equal(await all[2]!.arrive("window 1"), undefined, "and nobody waits any more");
    part(all);
  }
});

test("one that keeps silent counts as lost", async () => {
  const port = await freePort();
  const keeper = await keepBarrier({ host: "127.0.0.1", port, key: "key", index: 0, count: 2 }, "run-1", {
    silenceMs: 300,
  });
  const mute = await new Promise<Socket>((resolve) => {
    const s: Socket = connect({ host: "127.0.0.1", port }, () => resolve(s));
  });
  mute.on("error", () => {});
  mute.write('{"kind":"join","key":"key","index":1,"count":2}\n');
  assert.equal(await keeper.arrive("tables"), undefined);
  assert.match(String(keeper.lost.reason), /driver 2 of 2 has been silent/);
  mute.destroy();
  keeper.close();

  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write('{"kind":"welcome","runId":"r"}\n');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const caller = await callBarrier(
    { host: "127.0.0.1", port: (server.address() as AddressInfo).port, key: "key", index: 1, count: 2 },
    { silenceMs: 300 },
  );
  assert.equal(await caller.arrive("tables"), undefined);
  assert.match(String(caller.lost.reason), /driver 1 of 2 has been silent/);
  server.close();
});

test("one that never comes is named", async () => {
  const port = await freePort();
  const keeper = await keepBarrier({ host: "127.0.0.1", port, key: "key", index: 0, count: 3 }, "run-1", {
    patienceMs: 200,
  });
  const caller = await callBarrier({ host: "127.0.0.1", port, key: "key", index: 1, count: 3 });
  const [kept, called] = await Promise.all([keeper.arrive("tables"), caller.arrive("tables")]);
  assert.equal(kept, undefined);
  assert.equal(called, undefined);
  assert.match(String(caller.lost.reason), /driver 3 of 3 did not come/);
  part([keeper, caller]);
  await assert.rejects(
    callBarrier({ host: "127.0.0.1", port: await freePort(), key: "key", index: 1, count: 2 }, { patienceMs: 100 }),
    /^Error: drivers\.meet: driver 1 does not answer at 127\.0\.0\.1:\d+ \(.*ECONNREFUSED/,
  );
});

test("who belongs to another run, or has no place, or is here already, is sent away", async () => {
  const [keeper, caller] = (await meet(2)) as [Barrier, Barrier];
  const port = await freePort();
  part([keeper, caller]);
  const other = await keepBarrier({ host: "127.0.0.1", port, key: "key", index: 0, count: 2 }, "run-1");
  const call = (more: object): Promise<Barrier> =>
    callBarrier({ host: "127.0.0.1", port, key: "key", index: 1, count: 2, ...more });
  await assert.rejects(call({ key: "another" }), /refuses driver 2 of 2: another run is under way here/);
  await assert.rejects(
    call({ count: 3, index: 2 }),
    /refuses driver 3 of 3: driver 3 of 3 has no place among 2 drivers/,
  );
  const joined = await call({});
  await assert.rejects(call({}), /driver 2 of 2 is here already/);
  assert.equal(other.lost.aborted, false, "and the run is not disturbed");
  part([other, joined]);
});

test("what is no document of theirs ends the connection, not the run", async () => {
  const port = await freePort();
  const keeper = await keepBarrier({ host: "127.0.0.1", port, key: "key", index: 0, count: 2 }, "run-1");
  for (const noise of [
    "GET / HTTP/1.0\r\n\r\n",
    "{}\n",
    "null\n",
    `${"x".repeat(10_000)}`,
    '{"kind":"ping","n":1}\n',
  ]) {
    const socket = connect({ host: "127.0.0.1", port });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {}).on("data", () => {});
    socket.write(noise);
    await closed;
  }
  assert.equal(keeper.lost.aborted, false);
  await assert.rejects(
    keepBarrier({ host: "127.0.0.1", port, key: "key", index: 0, count: 2 }, "run-2"),
    /127\.0\.0\.1:\d+ cannot be listened on \(EADDRINUSE\)/,
  );
  keeper.close();
});
