/** Table options by sysbench's names, from `data.options`. */
import type { RunSpec } from "../contract.ts";

export type TableOptions = {
  /** id is AUTO_INCREMENT / SERIAL. Default on. */
  autoInc: boolean;
  /** A plain index `xid` on id in place of the primary key. Default off. */
  secondary: boolean;
  /** The index k_N on k, made after the load. Default on. */
  createSecondary: boolean;
  /** MySQL's storage engine. Default innodb. */
  engine: string;
  /**
   * Text after the columns of CREATE TABLE, e.g. "ROW_FORMAT=COMPRESSED" (create_table_options of later sysbench
   * versions).
   */
  createTable: string;
};

/** sysbench takes on/off beside the usual words. Throws with the option's name for anything else. */
export function flag(key: string, value: string | number | boolean | undefined, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (value === true || value === 1 || value === "on" || value === "true" || value === "1" || value === "yes")
    return true;
  if (value === false || value === 0 || value === "off" || value === "false" || value === "0" || value === "no")
    return false;
  throw new Error(`data.options.${key}: got ${JSON.stringify(value)}, on or off is allowed`);
}

export function tableOptions(spec: Pick<RunSpec, "data">): TableOptions {
  const given = new Map(Object.entries(spec.data.options).map(([key, value]) => [key.replaceAll("-", "_"), value]));
  const engine = String(given.get("mysql_storage_engine") ?? "innodb");
  if (!/^[A-Za-z]\w{0,30}$/.test(engine))
    throw new Error(
      `data.options.mysql_storage_engine: got ${JSON.stringify(engine)}, a storage engine's name is allowed`,
    );
  const createTable = String(given.get("create_table_options") ?? "");
  if (!/^[\w\s=,.()'+-]*$/.test(createTable))
    throw new Error(
      `data.options.create_table_options: got ${JSON.stringify(createTable)}, words, numbers, '=', ',', brackets and single quotes are allowed`,
    );
  return {
    autoInc: flag("auto_inc", given.get("auto_inc"), true),
    secondary: flag("secondary", given.get("secondary"), false),
    createSecondary: flag("create_secondary", given.get("create_secondary"), true),
    engine,
    createTable,
  };
}

/**
 * sysbench's bulk_insert has tables of its own, (id, k) and one per thread, under the same names sbtestN.
 * Returns how many of them the spec needs, 0 when its steps are OLTP steps; throws when the steps need both kinds.
 */
export function bulkTables(spec: Pick<RunSpec, "steps">): number {
  const bulk = spec.steps.filter((step) => step.workload === "bulk_insert");
  if (bulk.length === 0) return 0;
  if (bulk.length < spec.steps.length) {
    throw new Error(
      "steps: bulk_insert and the other workloads need different tables of the same names (sbtest1, ...): run them from specs with different target.database",
    );
  }
  return Math.max(...bulk.map((step) => step.threads));
}
