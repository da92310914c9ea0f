/** After a load: wait until every observed node has applied it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunSpec } from "../contract.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { dialectOf } from "../dialects/index.ts";
import { rowCount } from "../rows.ts";
import type { Session } from "../sql-session.ts";
import { describe, isTransient, openSession } from "../sql-session.ts";
import { indexProblems, readTables } from "./inspect.ts";
import type { FilledTable } from "./loader.ts";

/** A replica this far behind after a load will not be there for the run either. */
const SETTLE_MS = 600_000;
const POLL_MS = 500;
/**
 * A difference that stands through so many polls while the node has nothing left to apply stays. More than one poll: a
 * change that has just been committed elsewhere is not on its way for a moment.
 */
const STILL_POLLS = 6;
/** Counting a large table on a cold cache takes its time. */
const COUNT_TIMEOUT_MS = 600_000;
const ASK_MS = 30_000;
/** Between two looks at a node that is behind. */
const POSITION_SECONDS = 5;

type Node = RunSpec["observe"][number];

/**
 * Rows and indexes of every table on every observed node. Throws one line per node that does not get there.
 *
 * @param writer a session to where the load went
 */
export async function settle(
  spec: RunSpec,
  writer: Session,
  tables: readonly FilledTable[],
  onProgress: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (spec.observe.length === 0) return;
  const started = performance.now();
  // What a replica says of itself is up to what it has heard of: the primary's position tells what there is.
  const position = spec.target.roles === undefined ? undefined : await dialectOf(spec.target).position?.of(writer);
  const failures = (
    await Promise.all(spec.observe.map((node) => settleNode(spec, tables, node, position, signal)))
  ).filter((line) => line !== undefined);
  if (failures.length > 0) throw new Error(failures.join("\n"));
  onProgress(
    `all ${spec.observe.length} observed nodes have the data (${((performance.now() - started) / 1000).toFixed(1)} s after the load)`,
  );
}

async function settleNode(
  spec: RunSpec,
  tables: readonly FilledTable[],
  node: Node,
  position: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const dialect = dialectOf(spec.target);
  const deadline = performance.now() + SETTLE_MS;
  let session: Session | undefined;
  /** A node that takes no session at all is down, not behind: waiting would not help. */
  let answered = false;
  let still = { lacks: "", polls: 0 };
  let reached = position === undefined;
  const stop = (): void => session?.close();
  signal.addEventListener("abort", stop);
  try {
    for (;;) {
      let lacks: string;
      try {
        if (session === undefined) {
          session = await openSession(spec.target, node);
          await dialect.waitForReplication(session);
          answered = true;
        }
        reached ||= await dialect.position!.reached(session, position!, POSITION_SECONDS);
        const missing = await firstMissing(session, dialect, tables);
        if (missing === undefined) return undefined;
        lacks = missing;
        const { state, what } = await dialect.outstanding(session, ASK_MS);
        const settled = (state === "none" && reached) || state === "stopped";
        still = { lacks, polls: settled && lacks === still.lacks ? still.polls + 1 : Number(settled) };
        if (still.polls >= STILL_POLLS)
          return `${node.name} (${node.host}:${node.port}): not as loaded, and waiting does not change it: ${lacks}; ${state === "none" ? "it has nothing left to apply, so something else writes to the table or took rows away" : what}`;
      } catch (error) {
        signal.throwIfAborted();
        // A standby may cancel a long read in favour of what it has to apply.
        if (!answered || !isTransient(error)) throw error;
        session?.close();
        session = undefined;
        lacks = describe(error, node, spec.target);
      }
      if (performance.now() > deadline)
        return `${node.name} (${node.host}:${node.port}): not as loaded ${SETTLE_MS / 1000} s after the load: ${lacks}`;
      await sleep(POLL_MS, undefined, { signal });
    }
  } catch (error) {
    signal.throwIfAborted();
    return `${node.name}: ${describe(error, node, spec.target)}`;
  } finally {
    signal.removeEventListener("abort", stop);
    session?.close();
  }
}

async function firstMissing(
  session: Session,
  dialect: Dialect,
  tables: readonly FilledTable[],
): Promise<string | undefined> {
  const present = await readTables(session, dialect, tables, 60_000);
  for (const table of tables) {
    const { name } = table;
    const facts = present.get(name);
    if (facts === undefined) return `${name} is not there`;
    const [problem] = indexProblems(table, facts, dialect);
    if (problem !== undefined) return problem;
    const rows = Number((await session.query(`SELECT COUNT(*) AS n FROM ${name}`, COUNT_TIMEOUT_MS))[0]?.["n"]);
    const wanted = rowCount(table.rows);
    if (rows !== wanted) return `${name} has ${rows} of ${wanted} rows`;
  }
  return undefined;
}
