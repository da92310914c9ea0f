/** select_random_points, select_random_ranges and bulk_insert of sysbench 1.0.20. */
import type { Value } from "../drivers/driver.ts";
import type { Actor, Plan } from "../engine/plan.ts";
import type { Random } from "../engine/random.ts";
import type { Workload } from "./oltp.ts";
import type { Context } from "./statements.ts";
import { checks, OpList, randomPoints, randomRanges } from "./statements.ts";

/**
 * sysbench gives each thread its own part of the table: values are drawn from [part * id, part * (id + 1)], truncated.
 */
function ownPart(context: Context): (random: Random, id: number) => number {
  const { draw, tableSize, sessions } = context;
  const part = tableSize / sessions;
  return (random, id) => draw(random, Math.floor(part * id), Math.floor(part * id + part));
}

function single(_context: Context, list: OpList): Plan {
  return { templates: list.templates, tables: 1, ops: list.ops, transaction: false, readOnly: true };
}

/** Only sbtest1 is read, whatever the number of tables (sysbench refuses more than one). */
function onFirstTable(context: Context): OpList {
  return new OpList({ ...context, tables: 1 });
}

const selectRandomPoints: Workload = {
  description: "One SELECT of whole rows with k IN (10 values); sbtest1 only",
  plan(context) {
    const list = onFirstTable(context);
    const value = ownPart(context);
    const count = context.options.random_points;
    list.group(
      randomPoints(count),
      1,
      (actor, statement) => {
        actor.expected = -1;
        for (let i = 0; i < count; i++) statement.setInt(i, value(actor.random, actor.id));
      },
      checks.wholeRows,
    );
    return single(context, list);
  },
};

const selectRandomRanges: Workload = {
  description: "One SELECT count(k) over 10 ranges of k; sbtest1 only",
  plan(context) {
    const list = onFirstTable(context);
    const value = ownPart(context);
    const { number_of_ranges: count, delta } = context.options;
    list.group(
      randomRanges(count),
      1,
      (actor, statement) => {
        actor.expected = 1;
        for (let i = 0; i < count; i++) {
          const from = value(actor.random, actor.id);
          statement.setInt(2 * i, from);
          statement.setInt(2 * i + 1, from + delta);
        }
      },
      (rows: Value[][]) => checks.number(rows),
    );
    return single(context, list);
  },
};

/** sysbench's BULK_PACKET_SIZE. */
const BULK_BYTES = 512 * 1024;

const insertion = ({ id, memory }: Actor): string => `INSERT INTO sbtest${id + 1} VALUES${memory.buffer.join(",")}`;

/**
 * Each session fills a table of its own, (id, k), with rising ids. An event is one buffered row; when the buffer is
 * full the next event sends it. So the events per second are rows per second, and their latency percentiles mean
 * nothing.
 */
const bulkInsert: Workload = {
  description: "Multi-row INSERTs of 512 KiB into a table per session; an event is one row",
  plan() {
    return {
      templates: [],
      tables: 0,
      transaction: false,
      readOnly: false,
      ops: [
        {
          kind: "write",
          send(actor) {
            const { memory } = actor;
            const id = ++memory.next;
            const row = `(${id},${id})`;
            actor.expected = memory.buffer.length;
            if (memory.bytes + row.length + 1 <= BULK_BYTES) {
              memory.buffer.push(row);
              memory.bytes += row.length + 1;
              return false;
            }
            actor.text(insertion(actor));
            memory.buffer = [row];
            memory.bytes = row.length + 1;
            return true;
          },
        },
      ],
      // Rows of an earlier window are there already: go on after them.
      async start(actor, ask) {
        const rows = await ask(`SELECT COALESCE(MAX(id), 0) FROM sbtest${actor.id + 1}`);
        actor.memory.next = Number(rows[0]?.[0] ?? 0);
        actor.memory.buffer = [];
        actor.memory.bytes = 0;
      },
      async finish(actor, ask) {
        if (actor.memory.buffer.length > 0) await ask(insertion(actor));
        actor.memory.buffer = [];
      },
    };
  },
};

export const others = {
  select_random_points: selectRandomPoints,
  select_random_ranges: selectRandomRanges,
  bulk_insert: bulkInsert,
} satisfies Record<string, Workload>;
