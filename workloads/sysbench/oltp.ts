/** The OLTP workloads of sysbench 1.0.20: which statements an event is made of. */
import type { Actor, Plan } from "../engine/plan.ts";
import { fillDigitGroups, uniqueNumber } from "../engine/random.ts";
import type { Workload } from "../workload.ts";
import { stepOptions } from "./options.ts";
import {
  C_LENGTH,
  checks,
  contextOf,
  DELETE,
  DISTINCT_RANGE,
  expectRows,
  OpList,
  ORDER_RANGE,
  PAD_LENGTH,
  SIMPLE_RANGE,
  SUM_RANGE,
} from "./statements.ts";
import { sbtest } from "./tables.ts";

interface Shape {
  /** Frame the event with BEGIN and COMMIT, unless skip_trx is set. */
  transaction?: boolean;
  readOnly?: boolean;
  /** It works on empty tables too. */
  fills?: boolean;
}

function declare(
  name: string,
  description: string,
  { transaction = false, readOnly = false, fills = false }: Shape,
  fill: (list: OpList) => void,
): Workload<typeof stepOptions> {
  return {
    name,
    description,
    options: stepOptions,
    dataset: sbtest,
    plan(given): Plan {
      const context = contextOf(given);
      if (!fills) expectRows(context, name);
      const list = new OpList(context);
      const framed = transaction && !context.options.skip_trx;
      if (framed) list.control("BEGIN");
      fill(list);
      if (framed) list.control("COMMIT");
      return {
        templates: list.templates,
        tables: context.tables,
        ops: list.ops,
        transaction: framed,
        readOnly,
        state: (): Inserted => ({ rows: 0 }),
      };
    },
  };
}

function reads(list: OpList): void {
  const { options } = list.context;
  list.points(options.point_selects);
  if (!options.range_selects) return;
  list.ranges(SIMPLE_RANGE, options.simple_ranges, "each", checks.points);
  list.ranges(SUM_RANGE, options.sum_ranges, "one", checks.number);
  list.ranges(ORDER_RANGE, options.order_ranges, "each", checks.sorted);
  list.ranges(DISTINCT_RANGE, options.distinct_ranges, "each", checks.distinct);
}

function writes(list: OpList): void {
  const { options } = list.context;
  list.indexUpdates(options.index_updates);
  list.nonIndexUpdates(options.non_index_updates);
  list.deleteInserts(options.delete_inserts);
}

export const oltp = [
  declare(
    "oltp_read_only",
    "Point and range SELECTs in a transaction (14 reads, BEGIN, COMMIT)",
    { transaction: true, readOnly: true },
    reads,
  ),
  declare(
    "oltp_write_only",
    "Updates, a DELETE and an INSERT in a transaction (4 writes, BEGIN, COMMIT)",
    { transaction: true },
    writes,
  ),
  declare(
    "oltp_read_write",
    "The reads of oltp_read_only and the writes of oltp_write_only in one transaction",
    { transaction: true },
    (list) => {
      reads(list);
      writes(list);
    },
  ),
  declare("oltp_point_select", "One SELECT by primary key", { readOnly: true }, (list) => list.points(1)),
  declare("oltp_update_index", "UPDATE of the indexed column k", {}, (list) =>
    list.indexUpdates(list.context.options.index_updates),
  ),
  declare("oltp_update_non_index", "UPDATE of the column c, which has no index", {}, (list) =>
    list.nonIndexUpdates(list.context.options.non_index_updates),
  ),
  declare("oltp_delete", "One DELETE by primary key; the table gets emptier", {}, (list) => {
    const { draw, tableSize } = list.context;
    list.group(DELETE, 1, (actor, statement) => {
      actor.expected = -1;
      statement.setInt(0, draw(actor.random, 1, tableSize));
    });
  }),
  declare("oltp_insert", "One INSERT, sent as text", { fills: true }, insert),
] satisfies Workload[];

/** What a session counts for ids of its own. */
interface Inserted {
  rows: number;
}

/**
 * MySQL: id 0 asks for the next AUTO_INCREMENT value; PostgreSQL: the id is left out. Without auto_inc the ids are
 * those of rand.unique(), moved into the range of a signed integer; each session takes every n-th number of the
 * sequence.
 */
function insert(list: OpList): void {
  const { tables, tableSize, draw, options, dialect, sessions, seed, window } = list.context;
  const { auto_inc: autoInc } = options;
  const from = window.index * Math.floor(2 ** 32 / window.count);
  const c = Buffer.alloc(C_LENGTH);
  const pad = Buffer.alloc(PAD_LENGTH);
  const nextId = ({ state, id }: Actor): number =>
    uniqueNumber((from + (state as Inserted).rows++ * sessions + id) % 2 ** 32, seed >>> 0) - 2_147_483_648;
  const omit = autoInc && dialect === "postgres";
  list.ops.push({
    kind: "write",
    send(actor) {
      const table = actor.random.uniform(1, tables);
      const k = draw(actor.random, 1, tableSize);
      fillDigitGroups(actor.random, c);
      fillDigitGroups(actor.random, pad);
      const values = `${k}, '${c.toString("latin1")}', '${pad.toString("latin1")}'`;
      actor.expected = 1;
      if (omit) {
        actor.text(`INSERT INTO sbtest${table} (k, c, pad) VALUES (${values})`);
      } else {
        const id = autoInc ? 0 : nextId(actor);
        actor.text(`INSERT INTO sbtest${table} (id, k, c, pad) VALUES (${id}, ${values})`);
      }
      return true;
    },
  });
}
