/**
 * sysbench's statements (src/lua/oltp_common.lua, tag 1.0.20), one template per kind, and the operations that fill
 * them.
 */
import type { ParamType, StatementKind, StatementSpec, Value } from "../drivers/driver.ts";
import type { Draw } from "../engine/distributions.ts";
import { distribution } from "../engine/distributions.ts";
import type { Actor, Op, Template } from "../engine/plan.ts";
import { fillDigitGroups } from "../engine/random.ts";
import type { PlanContext } from "../workload.ts";
import type { StepOptions } from "./options.ts";

export interface Context extends PlanContext<StepOptions> {
  /** Draws an id in [a, b] by the step's distribution. */
  readonly draw: Draw;
}

export const contextOf = (context: PlanContext<StepOptions>): Context => ({
  ...context,
  draw: distribution(context.options),
});

/** Throws when the statements need rows and the tables have none. */
export function expectRows({ tableSize }: Context, workload: string): void {
  if (tableSize < 1) throw new Error(`data.tableSize: ${tableSize}; expected at least 1 for ${workload}`);
}

const INT: ParamType = { type: "int" };
/** Ten groups of 11 digits, and five: what sysbench writes into c CHAR(120) and pad CHAR(60). */
export const C_LENGTH = 119;
export const PAD_LENGTH = 59;
const C: ParamType = { type: "text", length: C_LENGTH };
const PAD: ParamType = { type: "text", length: PAD_LENGTH };

function template(kind: StatementKind, params: ParamType[], sql: (name: string) => string): Template {
  return { spec: (table): StatementSpec => ({ kind, params, sql: sql(`sbtest${table + 1}`) }) };
}

export const POINT = template("read", [INT], (t) => `SELECT c FROM ${t} WHERE id=?`);
export const SIMPLE_RANGE = template("read", [INT, INT], (t) => `SELECT c FROM ${t} WHERE id BETWEEN ? AND ?`);
export const SUM_RANGE = template("read", [INT, INT], (t) => `SELECT SUM(k) FROM ${t} WHERE id BETWEEN ? AND ?`);
export const ORDER_RANGE = template(
  "read",
  [INT, INT],
  (t) => `SELECT c FROM ${t} WHERE id BETWEEN ? AND ? ORDER BY c`,
);
export const DISTINCT_RANGE = template(
  "read",
  [INT, INT],
  (t) => `SELECT DISTINCT c FROM ${t} WHERE id BETWEEN ? AND ? ORDER BY c`,
);
export const INDEX_UPDATE = template("write", [INT], (t) => `UPDATE ${t} SET k=k+1 WHERE id=?`);
export const NON_INDEX_UPDATE = template("write", [C, INT], (t) => `UPDATE ${t} SET c=? WHERE id=?`);
export const DELETE = template("write", [INT], (t) => `DELETE FROM ${t} WHERE id=?`);
export const INSERT = template(
  "write",
  [INT, INT, C, PAD],
  (t) => `INSERT INTO ${t} (id, k, c, pad) VALUES (?, ?, ?, ?)`,
);

export function randomPoints(count: number): Template {
  return template(
    "read",
    Array.from({ length: count }, () => INT),
    (t) => `SELECT id, k, c, pad FROM ${t} WHERE k IN (${Array.from({ length: count }, () => "?").join(", ")})`,
  );
}

export function randomRanges(count: number): Template {
  return template(
    "read",
    Array.from({ length: 2 * count }, () => INT),
    (t) => `SELECT count(k) FROM ${t} WHERE ${Array.from({ length: count }, () => "k BETWEEN ? AND ?").join(" OR ")}`,
  );
}

// Checks of decoded answers. CHAR columns may come padded (PostgreSQL).

const C_PATTERN = /^\d{11}(-\d{11}){9} *$/;
const isC = (value: Value | undefined): boolean => typeof value === "string" && C_PATTERN.test(value);
const oneColumnOfC = (rows: Value[][]): boolean => rows.every((row) => row.length === 1 && isC(row[0]));
const inOrder = (rows: Value[][], strictly: boolean): boolean =>
  rows.every(
    (row, i) =>
      i === 0 || (strictly ? String(rows[i - 1]?.[0]) < String(row[0]) : String(rows[i - 1]?.[0]) <= String(row[0])),
  );
const oneNumber = (rows: Value[][]): boolean =>
  rows.length === 1 && rows[0]?.length === 1 && (rows[0][0] === null || Number.isFinite(Number(rows[0][0])));

export const checks = {
  points: oneColumnOfC,
  sorted: (rows: Value[][]): boolean => oneColumnOfC(rows) && inOrder(rows, false),
  distinct: (rows: Value[][]): boolean => oneColumnOfC(rows) && inOrder(rows, true),
  number: oneNumber,
  wholeRows: (rows: Value[][]): boolean =>
    rows.every((row) => row.length === 4 && Number.isInteger(row[0]) && Number.isInteger(row[1]) && isC(row[2])),
};

/** Builds the operations of a plan; each template used gets its place in the list of prepared statements. */
export class OpList {
  readonly ops: Op[] = [];
  readonly templates: Template[] = [];
  readonly context: Context;

  constructor(context: Context) {
    this.context = context;
  }

  use(t: Template): number {
    const at = this.templates.indexOf(t);
    return at >= 0 ? at : this.templates.push(t) - 1;
  }

  control(sql: "BEGIN" | "COMMIT"): void {
    this.ops.push({
      kind: "control",
      send(actor) {
        actor.expected = -1;
        actor.control(sql);
        return true;
      },
    });
  }

  /**
   * `count` statements on one table: as in sysbench the table is drawn (uniformly) once for the group, the ids per
   * statement.
   * @param fill draws the statement's values and sets `actor.expected`
   */
  group(
    t: Template,
    count: number,
    fill: (actor: Actor, statement: ReturnType<Actor["statement"]>) => void,
    check?: (rows: Value[][]) => boolean,
  ): void {
    const at = this.use(t);
    const { kind } = t.spec(0);
    const { tables } = this.context;
    for (let i = 0; i < count; i++) {
      const drawsTable = i === 0;
      this.ops.push({
        kind,
        check,
        send(actor) {
          if (drawsTable) actor.table = actor.random.uniform(1, tables) - 1;
          const statement = actor.statement(at);
          fill(actor, statement);
          statement.execute();
          return true;
        },
      });
    }
  }

  points(count: number): void {
    const { draw, tableSize } = this.context;
    this.group(
      POINT,
      count,
      (actor, statement) => {
        actor.expected = 1;
        statement.setInt(0, draw(actor.random, 1, tableSize));
      },
      checks.points,
    );
  }

  /**
   * BETWEEN id AND id + range_size - 1, not clamped: at the table's end fewer rows come back, or as many when an insert
   * workload has left rows there.
   */
  ranges(t: Template, count: number, rows: "each" | "one", check: (rows: Value[][]) => boolean): void {
    const { draw, tableSize, options } = this.context;
    const size = options.range_size;
    this.group(
      t,
      count,
      (actor, statement) => {
        const id = draw(actor.random, 1, tableSize);
        actor.expected = rows === "one" ? 1 : id + size - 1 <= tableSize ? size : -1;
        statement.setInt(0, id);
        statement.setInt(1, id + size - 1);
      },
      check,
    );
  }

  indexUpdates(count: number): void {
    const { draw, tableSize } = this.context;
    this.group(INDEX_UPDATE, count, (actor, statement) => {
      actor.expected = 1;
      statement.setInt(0, draw(actor.random, 1, tableSize));
    });
  }

  nonIndexUpdates(count: number): void {
    const { draw, tableSize } = this.context;
    this.group(NON_INDEX_UPDATE, count, (actor, statement) => {
      // Not 1: the row may hold the very text already (the same seed ran on these data before), and then MySQL changes
      // none.
      actor.expected = -1;
      fillDigitGroups(actor.random, statement.bytes(0));
      statement.setInt(1, draw(actor.random, 1, tableSize));
    });
  }

  /**
   * A row is deleted and inserted again under the same id. All values are drawn before the DELETE, as sysbench does.
   */
  deleteInserts(count: number): void {
    const { draw, tableSize, tables } = this.context;
    const remove = this.use(DELETE);
    const insert = this.use(INSERT);
    for (let i = 0; i < count; i++) {
      const drawsTable = i === 0;
      this.ops.push(
        {
          kind: "write",
          send(actor) {
            if (drawsTable) actor.table = actor.random.uniform(1, tables) - 1;
            const removal = actor.statement(remove);
            const insertion = actor.statement(insert);
            const id = draw(actor.random, 1, tableSize);
            removal.setInt(0, id);
            insertion.setInt(0, id);
            insertion.setInt(1, draw(actor.random, 1, tableSize));
            fillDigitGroups(actor.random, insertion.bytes(2));
            fillDigitGroups(actor.random, insertion.bytes(3));
            actor.expected = 1;
            removal.execute();
            return true;
          },
        },
        {
          kind: "write",
          send(actor) {
            actor.expected = 1;
            actor.statement(insert).execute();
            return true;
          },
        },
      );
    }
  }
}
