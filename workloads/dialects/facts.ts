/** One sample of counters and states, or the variables, over one session. */

import type { Values } from "../facts/names.ts";
import { MYSQL_STATUS, MYSQL_VARIABLES, POSTGRES_SETTINGS } from "../facts/names.ts";
import type { Session } from "../sql-session.ts";

const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(", ");
const STATUS = `SHOW GLOBAL STATUS WHERE Variable_name IN (${quoted(MYSQL_STATUS.flatMap((group) => group.names))})`;
const VARIABLES = `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${quoted(MYSQL_VARIABLES)})`;
const SETTINGS = `SELECT name, setting || COALESCE(' x ' || NULLIF(unit, ''), '') AS setting FROM pg_settings WHERE name IN (${quoted(POSTGRES_SETTINGS)})`;

/** Each view apart: which exist depends on the version, and servers that only speak the protocol have few of them. */
const POSTGRES_VIEWS = [
  "SELECT * FROM pg_stat_database WHERE datname = current_database()",
  "SELECT * FROM pg_stat_bgwriter",
  "SELECT * FROM pg_stat_checkpointer",
  "SELECT * FROM pg_stat_wal",
  "SELECT count(*) FILTER (WHERE state = 'active') AS backends_active, count(*) FILTER (WHERE wait_event_type = 'Lock') AS locks_waiting FROM pg_stat_activity",
];
/** Identities and times, not measurements. */
const POSTGRES_SKIPPED = new Set(["datid", "datname", "stats_reset", "checksum_last_failure"]);

export async function sampleMysql(session: Session, timeoutMs: number): Promise<Values> {
  const values: Values = {};
  for (const row of await session.query(STATUS, timeoutMs))
    values[String(row["Variable_name"])] = numberOrText(row["Value"]);
  return values;
}

export async function variablesMysql(session: Session, timeoutMs: number): Promise<Record<string, string>> {
  return Object.fromEntries(
    (await session.query(VARIABLES, timeoutMs)).map((row) => [String(row["Variable_name"]), String(row["Value"])]),
  );
}

/** Which of the views a server has is found out with its first sample. */
export function samplerPostgres(): (session: Session, timeoutMs: number) => Promise<Values> {
  let views: readonly string[] | undefined;
  return async (session, timeoutMs) => {
    const { values, known } = await samplePostgres(session, timeoutMs, views ?? POSTGRES_VIEWS);
    views ??= known;
    return values;
  };
}

async function samplePostgres(
  session: Session,
  timeoutMs: number,
  views: readonly string[],
): Promise<{ values: Values; known: string[] }> {
  const values: Values = {};
  const known: string[] = [];
  for (const sql of views) {
    try {
      const rows = await session.query(sql, timeoutMs);
      for (const [name, value] of Object.entries(rows[0] ?? {})) {
        if (value !== null && !POSTGRES_SKIPPED.has(name)) values[name] = numberOrText(value);
      }
      known.push(sql);
    } catch (error) {
      // Undefined table, column, function or feature: this server has no such view. Anything else is the node's
      // trouble.
      if (!["42P01", "42703", "42883", "0A000"].includes((error as { code?: string }).code ?? "")) throw error;
    }
  }
  return { values, known };
}

export async function variablesPostgres(session: Session, timeoutMs: number): Promise<Record<string, string>> {
  const settings = await session.query(SETTINGS, timeoutMs);
  const version = await session.query("SELECT version() AS version", timeoutMs);
  return Object.fromEntries([
    ...settings.map((row) => [String(row["name"]), String(row["setting"])]),
    ["version", String(version[0]?.["version"])],
  ]);
}

/** "12" and "0.5" become numbers; words, lists and "" stay text. */
export function numberOrText(value: unknown): string | number {
  if (typeof value === "number") return value;
  const text = String(value);
  if (!/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return text;
  // wsrep_cluster_conf_id is 2^64-1 without a cluster: it would come out as another number.
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text)) ? text : Number(text);
}
