/** select_random_points, select_random_ranges and bulk_insert of sysbench 1.0.20. */
import type { Value } from "../drivers/driver.ts";
import type { Plan } from "../engine/plan.ts";
import type { Random } from "../engine/random.ts";
import type { PlanContext, Workload } from "../workload.ts";
import type { StepOptions } from "./options.ts";
import { stepOptions } from "./options.ts";
import type { Context } from "./statements.ts";
import { checks, contextOf, expectRows, OpList, randomPoints, randomRanges } from "./statements.ts";
import { bulk, sbtest } from "./tables.ts";

/**
 * sysbench gives each thread its own part of the table: values are drawn from [part * id, part * (id + 1)], truncated.
 */
function ownPart(context: Context): (random: Random, id: number) => number {
  const { draw, tableSize, sessions } = context;
  const part = tableSize / sessions;
  return (random, id) => draw(random, Math.floor(part * id), Math.floor(part * id + part));
}

function single(list: OpList): Plan {
  return { templates: list.templates, tables: 1, ops: list.ops, transaction: false, readOnly: true };
}

/** Only sbtest1 is read, whatever the number of tables (sysbench refuses more than one). */
function onFirstTable(context: PlanContext<StepOptions>, workload: string): OpList {
  const whole = contextOf({ ...context, tables: 1 });
  expectRows(whole, workload);
  return new OpList(whole);
}

const selectRandomPoints: Workload<typeof stepOptions> = {
  name: "select_random_points",
  options: stepOptions,
  dataset: sbtest,
  description: "One SELECT of whole rows with k IN (10 values); sbtest1 only",
  plan(context) {
    const list = onFirstTable(context, this.name);
    const value = ownPart(list.context);
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
    return single(list);
  },
};

const selectRandomRanges: Workload<typeof stepOptions> = {
  name: "select_random_ranges",
  options: stepOptions,
  dataset: sbtest,
  description: "One SELECT count(k) over 10 ranges of k; sbtest1 only",
  plan(context) {
    const list = onFirstTable(context, this.name);
    const value = ownPart(list.context);
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
    return single(list);
  },
};

/** sysbench's BULK_PACKET_SIZE. */
const BULK_BYTES = 512 * 1024;

/** How many rows `(id,id),` from this id on fill a packet of sysbench's. */
export function rowsThatFit(first: number, bytes = BULK_BYTES): number {
  let rows = 0;
  let left = bytes;
  for (let digits = String(first).length, id = first; ; digits++) {
    const length = 2 * digits + 4;
    const ofThisLength = 10 ** digits - id;
    const fit = Math.min(ofThisLength, Math.floor(left / length));
    rows += fit;
    if (fit < ofThisLength) return Math.max(1, rows);
    left -= fit * length;
    id += fit;
  }
}

/** The last id that the session's table has. */
interface Filled {
  last: number;
}

/**
 * Each session fills a table of its own, (id, k), with rising ids. As in sysbench an event is one row, and as many as
 * fill 512 KiB go out as one INSERT; there each counts when it is buffered, here when the server has taken it. So the
 * events per second are rows per second, and the latency is that of an INSERT.
 */
const bulkInsert: Workload<typeof stepOptions> = {
  name: "bulk_insert",
  options: stepOptions,
  dataset: bulk,
  description:
    "Multi-row INSERTs of 512 KiB into a table per session; an event is one row, latencies are those of INSERTs",
  plan(): Plan<Filled> {
    return {
      templates: [],
      tables: 0,
      transaction: false,
      readOnly: false,
      state: () => ({ last: 0 }),
      batch: ({ state }) => rowsThatFit(state.last + 1),
      batchDone: ({ state, batch }) => void (state.last += batch),
      ops: [
        {
          kind: "write",
          send(actor) {
            const first = actor.state.last + 1;
            const rows = Array.from({ length: actor.batch }, (_, i) => `(${first + i},${first + i})`);
            actor.expected = actor.batch;
            actor.text(`INSERT INTO sbtest${actor.id + 1} VALUES${rows.join(",")}`);
            return true;
          },
        },
      ],
      // Rows of an earlier window are there already, and those of an INSERT whose answer was lost may be.
      async start(actor, ask) {
        const rows = await ask(`SELECT COALESCE(MAX(id), 0) FROM sbtest${actor.id + 1}`);
        actor.state.last = Number(rows[0]?.[0] ?? 0);
      },
    };
  },
};

export const others: readonly Workload[] = [selectRandomPoints, selectRandomRanges, bulkInsert];
