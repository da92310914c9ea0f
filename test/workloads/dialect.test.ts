/** Protocol and SQL dialect are two facts of a target; documents from before that have the protocol's own dialect. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { specFor } from "../../harness/servers/engine.ts";
import { dialectName, explain, runSpecSchema } from "../../workloads/contract.ts";
import { dialectOf } from "../../workloads/dialects/index.ts";
import { dataOf } from "../../workloads/steps.ts";

const steps = [{ workload: "oltp_read_only", threads: 1 }];

test("without a dialect it is the protocol's own, and the document stays as it was", () => {
  const spec = specFor([1], steps);
  assert.equal("dialect" in spec.target, false);
  assert.equal(dialectName(spec.target), "mysql");
  assert.equal(dialectOf({ driver: "postgres" }).name, "postgres");
  assert.equal(dialectOf({ driver: "postgres", dialect: "postgres" }).name, "postgres");
});

test("a dialect that is not spoken over the protocol is refused", () => {
  const input = { ...specFor([1], steps), target: { ...specFor([1], steps).target, dialect: "postgres" } };
  const parsed = runSpecSchema.safeParse(input);
  assert.ok(!parsed.success);
  assert.equal(explain(parsed.error, input), 'target.dialect: "postgres"; expected mysql with driver mysql');
});

test("tables are described in the dialect, not in the protocol's", () => {
  const spec = specFor([1], steps);
  const { context } = dataOf({ ...spec, target: { driver: "postgres", dialect: "mysql" } });
  assert.equal(context.dialect, "mysql");
  assert.equal(dataOf(spec).context.dialect, "mysql");
});
