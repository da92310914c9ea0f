/** Heartbeats as bookkeeping: every committed beat counts once on every other node, seen or not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Beats } from "../../../workloads/engine/lag/beats.ts";

test("a beat's lag is the time from its commit until a node shows it, and of unseen ones until the close", () => {
  const beats = new Beats(["a", "b", "c"], 1);
  beats.open(0);
  beats.commit(1, 100, "a");
  beats.commit(2, 200, "a");
  beats.commit(3, 1300, "a");
  beats.see("b", 1, 104, 4);
  // The row moves on: one look shows two beats.
  beats.see("b", 3, 1310, 6);
  beats.see("c", 0, 1400, 100);
  beats.fail("c", "ECONNRESET");
  assert.equal(beats.oldestWaiting("b"), undefined);
  assert.equal(beats.oldestWaiting("c")?.seq, 1);
  const [b, c] = beats.close(2000);
  assert.deepEqual(
    // A histogram of three digits.
    [b?.node, b?.beats, b?.unseen, Math.round(b!.p50Ms!), b?.maxMs, Math.round(b!.resolutionMs!)],
    ["b", 3, 0, 10, 1110, 4],
    "the writer has no lag and is not listed",
  );
  assert.deepEqual(
    b?.intervals.map(({ t, maxMs }) => [t, Math.round(maxMs!)]),
    [
      [1, 1110],
      [2, 10],
    ],
  );
  assert.deepEqual([c?.beats, c?.unseen, c?.maxMs, c?.errors], [3, 3, 1900, { ECONNRESET: 1 }]);
});

test("a beat that is seen before its writer has answered has no lag", () => {
  const beats = new Beats(["a", "b"], 1);
  beats.open(0);
  beats.commit(1, 50, "a");
  beats.see("b", 1, 40, 2);
  assert.equal(beats.close(100)[0]?.maxMs, 0);
});

test("over any order of commits and looks, beats of the intervals add up to those of the window", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(50), fc.boolean()), { maxLength: 60 }), (moves) => {
      const beats = new Beats(["a", "b"], 0.1);
      beats.open(0);
      let [now, seq] = [0, 0];
      for (const [step, commits] of moves) {
        now += step;
        if (commits) beats.commit(++seq, now, "a");
        else beats.see("b", seq - (step % 3), now, step);
      }
      const [b] = beats.close(now + 10);
      assert.equal(b?.beats ?? 0, seq);
      if (b !== undefined) {
        assert.ok(b.p50Ms! <= b.p95Ms! && b.p95Ms! <= b.maxMs!);
        assert.equal(Math.max(...b.intervals.map((i) => i.maxMs!)), b.maxMs);
      }
    }),
  );
});
