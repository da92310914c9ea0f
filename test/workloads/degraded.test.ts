import assert from "node:assert/strict";
import { test } from "node:test";
import { degradedOf } from "../../workloads/facts/degraded.ts";

const server = (node: string, delta: Record<string, number>) => ({ node, delta }) as never;

test("a fall-back is told by MariaDB's names and by MySQL's, with its share of the commits", () => {
  for (const name of ["master", "source"]) {
    const counters = (yes: number, no: number) => ({
      [`Rpl_semi_sync_${name}_yes_tx`]: yes,
      [`Rpl_semi_sync_${name}_no_tx`]: no,
    });
    assert.equal(degradedOf([server("east-1", counters(20, 0)), server("west-1", counters(0, 0))]), undefined);
    assert.equal(
      degradedOf([server("east-1", counters(17, 3))]),
      "semi-synchronous replication fell back: 3 of 20 commits on east-1 were acknowledged by no replica",
    );
  }
  assert.equal(degradedOf([server("east-1", { Queries: 5 })]), undefined);
});
