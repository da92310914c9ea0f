/**
 * What can stand under `meshbench:database`: one member per engine and replication design. Pure: a description of each
 * member is in databases/.
 */
import { z } from "zod";

export const scalar = z.union([z.string(), z.number(), z.boolean()]).transform((v) => String(v));

/** Server variables by their own names: { innodb_buffer_pool_size: "1G" }. */
const variables = z.record(z.string().regex(/^[a-z][a-z0-9_]*$/, "a server variable's name"), scalar).default({});

const semiSync = z
  .strictObject({
    /** AFTER_SYNC: before other sessions see the transaction; AFTER_COMMIT, MariaDB's own default: after. */
    waitPoint: z.enum(["AFTER_SYNC", "AFTER_COMMIT"]).default("AFTER_SYNC"),
    /** After which a commit goes on without an acknowledgement, and those after it too until a replica has caught up. */
    timeoutMs: z.number().int().min(1).max(4_294_967_295).default(10_000),
  })
  .prefault({});

const mariadb = {
  engine: z.literal("mariadb"),
  /** debian: what the nodes' Debian carries; or an exact version of the vendor's repository such as 10.11.8. */
  version: z
    .union([z.literal("debian"), z.string().regex(/^\d+\.\d+\.\d+$/, "debian, or an exact version such as 10.11.8")])
    .default("debian"),
  variables,
};

/** One standalone server. */
export const mariadbNone = z.strictObject({ ...mariadb, replication: z.literal("none") });

/** wsrep on every database node. */
export const mariadbGalera = z.strictObject({
  ...mariadb,
  replication: z.literal("galera"),
  /** wsrep provider options by their own names: { "evs.suspect_timeout": "PT5S" }. */
  options: z.record(z.string(), scalar).default({}),
  sstMethod: z.enum(["rsync", "mariabackup"]).default("rsync"),
  /** A named set of options, below those that are given (config/tuning.ts). */
  tuning: z.enum(["none", "galera-wan"]).default("none"),
});

/** A primary, the first database node until another one is promoted, and replicas that follow by GTID. */
export const mariadbAsync = z.strictObject({ ...mariadb, replication: z.literal("async") });

/** The same, but a commit waits until one replica has it. */
export const mariadbSemiSync = z.strictObject({
  ...mariadb,
  replication: z.literal("semi-sync"),
  semiSync,
});

const mysql = {
  engine: z.literal("mysql"),
  /** debian: what Debian's unstable suite has now, for local nodes; or an exact version of the vendor's repository. */
  version: z
    .union([z.literal("debian"), z.string().regex(/^\d+\.\d+\.\d+$/, "debian, or an exact version such as 8.4.6")])
    .default("debian"),
  variables,
};

/** One standalone server. */
export const mysqlNone = z.strictObject({ ...mysql, replication: z.literal("none") });

/** A primary, the first database node until another one is promoted, and replicas that follow by GTID. */
export const mysqlAsync = z.strictObject({ ...mysql, replication: z.literal("async") });

/** The same, but a commit waits until one replica has it. */
export const mysqlSemiSync = z.strictObject({ ...mysql, replication: z.literal("semi-sync"), semiSync });

/** Group Replication on every database node. */
export const mysqlGroup = z.strictObject({
  ...mysql,
  replication: z.literal("group"),
  /** single: one member takes writes; multi: all do. */
  primaries: z.enum(["single", "multi"]).default("single"),
  /** group_replication_* by their own names. */
  options: z.record(z.string(), scalar).default({}),
  /** A named set of options and variables; what is given beside it wins. */
  tuning: z.enum(["none", "group-wan", "published-003"]).default("none"),
});

/** One standalone server of Debian's own version. */
export const postgresqlNone = z.strictObject({
  engine: z.literal("postgresql"),
  replication: z.literal("none"),
  version: z.literal("debian").default("debian"),
  variables,
});

const patroni = {
  engine: z.literal("postgresql"),
  version: z.literal("debian").default("debian"),
  variables,
  /** Patroni's dynamic settings by their own names: { ttl: 30 }. */
  options: z.record(z.string(), scalar).default({}),
  /** Milliseconds; what is not given comes from the measured round trips. */
  etcd: z
    .strictObject({
      heartbeatMs: z.number().int().min(10).optional(),
      electionMs: z.number().int().min(50).max(50_000).optional(),
    })
    .prefault({}),
  /** A named set of options and variables, below those that are given (config/tuning.ts). */
  tuning: z.enum(["none", "patroni-wan"]).default("none"),
};

/** Streaming replication under Patroni: a primary that waits for nobody. */
export const postgresqlAsync = z.strictObject({ ...patroni, replication: z.literal("async") });

/** The same, but a commit waits for the standby that Patroni has named. */
export const postgresqlSync = z.strictObject({
  ...patroni,
  replication: z.literal("sync"),
  /** Names of the database nodes that Patroni may pick; default: all. */
  standbys: z.array(z.string()).min(1).optional(),
});

/** By engine; a design that comes first is what an engine is without a word about its replication. */
const SCHEMAS = {
  mariadb: z.discriminatedUnion("replication", [mariadbNone, mariadbGalera, mariadbAsync, mariadbSemiSync]),
  mysql: z.discriminatedUnion("replication", [mysqlNone, mysqlAsync, mysqlSemiSync, mysqlGroup]),
  postgresql: z.discriminatedUnion("replication", [postgresqlNone, postgresqlAsync, postgresqlSync]),
};
type Schema = (typeof SCHEMAS)[keyof typeof SCHEMAS];
export const databaseSchema = z.discriminatedUnion("engine", Object.values(SCHEMAS) as [Schema, ...Schema[]]);

export type DatabaseConfig = z.infer<typeof databaseSchema>;
type KeyOf<D> = D extends { engine: infer E extends string; replication: infer R extends string } ? `${E}/${R}` : never;
/** "mariadb/galera": what the registry of descriptions is asked by. */
export type EngineKey = KeyOf<DatabaseConfig>;
export type DatabaseOf<K extends EngineKey> = Extract<
  DatabaseConfig,
  K extends `${infer E}/${infer R}` ? { engine: E; replication: R } : never
>;

export const engineKey = ({ engine, replication }: DatabaseConfig): EngineKey =>
  `${engine}/${replication}` as EngineKey;

const firstOf = (engine: unknown): string | undefined =>
  Object.entries(SCHEMAS).find(([name]) => name === engine)?.[1].options[0].shape.replication.value;

/**
 * Fills in what the schema decides by: without a word about the engine it is Galera. Reads the former name
 * `engine: galera`.
 */
export function withEngine(raw: unknown): { database: unknown; advice: string[] } {
  if (raw === undefined) return { database: { engine: "mariadb", replication: "galera" }, advice: [] };
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return { database: raw, advice: [] };
  const given = raw as { engine?: unknown; replication?: unknown };
  if (given.engine === "galera")
    return {
      database: { replication: "galera", ...raw, engine: "mariadb" },
      advice: ['meshbench:database.engine: "galera"; taken as engine "mariadb" with replication "galera"'],
    };
  if (given.engine === undefined) return { database: { replication: "galera", ...raw, engine: "mariadb" }, advice: [] };
  const replication = given.replication ?? firstOf(given.engine);
  return { database: { ...raw, ...(replication === undefined ? {} : { replication }) }, advice: [] };
}

const MEMBERS = Object.values(SCHEMAS).flatMap(({ options }) => [...options]);

/** The members that have a key which another one has not: "mariadb with replication galera". */
export function whoseKey(key: string): string[] {
  return MEMBERS.filter((member) => Object.hasOwn(member.shape, key)).map(
    ({ shape }) => `${[...shape.engine.values].join()} with replication ${[...shape.replication.values].join()}`,
  );
}
