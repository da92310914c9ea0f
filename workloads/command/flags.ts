/** The command line's way in: flags that describe a run, turned into the same RunSpec that a spec file holds. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { Option } from "commander";
import type { RunSpec, RunSpecInput } from "../contract.ts";
import { explain, runSpecSchema } from "../contract.ts";
import type { Address } from "../drivers/address.ts";
import { listed, suggestion } from "../options.ts";
import { WORKLOADS, workload, workloads } from "../registry.ts";
import type { Workload } from "../workload.ts";
import type { ParsedUrl } from "./url.ts";
import { parseUrl } from "./url.ts";

export interface Flags {
  spec?: string;
  url?: string[];
  workload?: string[];
  threads?: string;
  time?: string;
  warmup?: string;
  repeats?: string;
  interval?: string;
  rate?: string;
  arrivals?: string;
  tables?: string;
  tableSize?: string;
  option?: string[];
  seed?: string;
  order?: string;
  rest?: string;
  policy?: string;
  reconnect?: string;
  connectRate?: string;
  statementTimeout?: string;
  dbPsMode?: string;
  tls?: string;
  tlsCa?: string;
  passwordFile?: string;
  loadThreads?: string;
  method?: string;
  localInfile?: string;
  workers?: string;
  runId?: string;
  consistency?: boolean;
  out?: string;
  status?: string;
  json?: boolean;
}

const collect = (value: string, previous: string[] | undefined): string[] => [...(previous ?? []), value];

export function addFlags(command: Command): Command {
  return command
    .option(
      "--spec <file>",
      "a RunSpec (JSON); - reads it from standard input. The flags below it are then not allowed, but --out, --status, --json, --workers and --password-file are",
    )
    .option(
      "--url <url>",
      "mysql://user@host:port/database or postgres://...; may be given several times; parameters: role=primary|replica|proxy, socket=<path>, sslmode=disable|require|verify-full, sslrootcert=<file>",
      collect,
    )
    .option("--password-file <file>", "file (mode 0600) with the password; else MESHBENCH_DB_PASSWORD")
    .option("--workload <name>", `workload, may be given several times: ${WORKLOADS.join(", ")}`, collect)
    .option("--threads <list>", "connections, a list for a sweep: 1,4,16", "1")
    .option("--time <seconds>", "length of the measured window", "10")
    .option("--warmup <seconds>", "before it, not measured", "0")
    .option("--repeats <n>", "windows per step", "1")
    .option("--interval <seconds>", "length of an interval of the report", "1")
    .option("--rate <per second>", "open loop: events per second over all connections, whatever the server does")
    .addOption(
      new Option("--arrivals <kind>", "open loop: gaps between events")
        .choices(["poisson", "constant"])
        .default("poisson"),
    )
    .option("--tables <n>", "number of tables sbtest1, sbtest2, ...", "1")
    .option("--table-size <n>", "rows per table", "10000")
    .option(
      "--option <key=value>",
      "an option by sysbench's name, e.g. range_size=50, rand-type=uniform, secondary=on; see --list-options",
      collect,
    )
    .option(
      "--seed <n>",
      "same seed, same statements per connection; default: drawn from the clock, as sysbench does, and kept in the result",
    )
    .addOption(
      new Option("--order <order>", "order of the windows")
        .choices(["given", "interleaved", "random"])
        .default("given"),
    )
    .option("--rest <seconds>", "pause between two windows", "0")
    .addOption(
      new Option("--policy <policy>", "which endpoint a connection goes to")
        .choices(["round-robin", "random", "first-alive", "read-write-split"])
        .default("round-robin"),
    )
    .option("--reconnect <mode>", "never, random, or after every N events", "never")
    .option("--connect-rate <per second>", "new connections per second at most; 0: no limit", "0")
    .option(
      "--statement-timeout <ms>",
      "a connection without an answer for so long is given up; default: 30000, or longer where the server lets row locks wait longer",
    )
    .addOption(new Option("--db-ps-mode <mode>", "prepared statements").choices(["auto", "disable"]).default("auto"))
    .addOption(new Option("--tls <mode>", "TLS to the server").choices(["off", "require", "verify"]).default("off"))
    .option("--tls-ca <file>", "CA certificate for --tls verify")
    .option("--load-threads <n>", "prepare: connections that load at once", "4")
    .addOption(
      new Option("--method <method>", "prepare: how rows are loaded")
        .choices(["auto", "load-data", "copy", "insert"])
        .default("auto"),
    )
    .addOption(
      new Option(
        "--local-infile <mode>",
        "prepare on MySQL: set turns the server's local_infile on while the load goes on, where the account may",
      ).choices(["keep", "set"]),
    )
    .option("--workers <n>", "threads of the load engine; default: as many as the cores and connections are worth")
    .option("--run-id <id>", "name of the run in the result");
}

/** Workloads with the same options are listed together. */
export function listOptions(): string {
  const all = [...workloads.values()];
  const row = (name: string, description: string): string => `  ${name}`.padEnd(34) + description;
  const names = all.map(({ name, description }) => row(name, description));
  const groups = Map.groupBy(all, ({ options }) => options);
  const options = [...groups].flatMap(([schema, members]) => [
    "",
    `Options${groups.size > 1 ? ` of ${members.map(({ name }) => name).join(", ")}` : ""} (--option key=value) and their defaults:`,
    ...listed(schema).map((o) => row(`${o.name}=${o.default}`, o.description)),
  ]);
  const datasets = Map.groupBy(all, ({ dataset }) => dataset.options);
  const tables = [...datasets].flatMap(([schema, members]) => {
    const own = listed(schema).filter(({ name }) => !members.some(({ options }) => Object.hasOwn(options.shape, name)));
    return [
      "",
      `Options of the tables${datasets.size > 1 ? ` of ${members[0]?.dataset.name}` : ""}:`,
      ...own.map((o) => row(`${o.name}=${o.default}`, o.description)),
    ];
  });
  return ["Workloads:", ...names, ...options, ...tables].join("\n");
}

/** The spec that the flags mean. Throws one line per mistake. `changed` tells whether the user gave a flag. */
export function specFrom(flags: Flags, changed: (name: keyof Flags) => boolean): RunSpec {
  if (flags.spec !== undefined) return fromFile(flags, changed);
  if (!flags.url?.length) throw new Error("--url mysql://user@host:port/database or --spec FILE is needed");
  const targets = flags.url.map(parseUrl);
  const first = targets[0] as ParsedUrl;
  for (const other of targets) {
    if (other.driver !== first.driver || other.user !== first.user || other.database !== first.database)
      throw new Error("--url: all of them must name the same kind of server, user and database");
  }
  const names = flags.workload ?? ["oltp_read_write"];
  const { data, run } = splitOptions(
    flags.option ?? [],
    names.map((name) => workload(name, "--workload")),
  );
  const input = {
    runId: flags.runId ?? `load-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`,
    // The same seed on the same data would write texts that are there already, and such an update changes nothing.
    seed: flags.seed === undefined ? Date.now() % 2 ** 32 : number(flags.seed, "--seed"),
    order: flags.order as RunSpec["order"],
    restSeconds: number(flags.rest, "--rest"),
    ...(flags.workers === undefined ? {} : { workers: number(flags.workers, "--workers") }),
    target: {
      driver: first.driver,
      user: first.user,
      database: first.database,
      endpoints: targets.map((target, i) => ({ ...addressOf(target, i), role: target.role })),
      policy: flags.policy as RunSpec["target"]["policy"],
      reconnect:
        flags.reconnect === "never" || flags.reconnect === "random"
          ? flags.reconnect
          : number(flags.reconnect, "--reconnect"),
      connectRate: number(flags.connectRate, "--connect-rate"),
      ...(flags.statementTimeout === undefined
        ? {}
        : { statementTimeoutMs: number(flags.statementTimeout, "--statement-timeout") }),
      preparedStatements: flags.dbPsMode as "auto" | "disable",
      tls: tlsOf(flags, targets, changed),
      ...(flags.passwordFile === undefined ? {} : { passwordFile: flags.passwordFile }),
    },
    // Their own counters before and after each window; a proxy would answer for one node or another.
    observe: targets.flatMap((target, i) => (target.role === "proxy" ? [] : [addressOf(target, i)])),
    data: {
      tables: number(flags.tables, "--tables"),
      tableSize: number(flags.tableSize, "--table-size"),
      options: data,
      threads: number(flags.loadThreads, "--load-threads"),
      method: flags.method as "auto",
      ...(flags.localInfile === undefined ? {} : { localInfile: flags.localInfile as "keep" }),
    },
    steps: names.flatMap((name) =>
      list(flags.threads, "--threads").map((threads) => ({
        workload: name,
        threads,
        warmupSeconds: number(flags.warmup, "--warmup"),
        durationSeconds: number(flags.time, "--time"),
        repeats: number(flags.repeats, "--repeats"),
        intervalSeconds: number(flags.interval, "--interval"),
        options: run,
        ...(flags.rate === undefined
          ? {}
          : { rate: { perSecond: number(flags.rate, "--rate"), arrivals: flags.arrivals as "poisson" } }),
      })),
    ),
  } satisfies RunSpecInput;
  return parse(input);
}

function addressOf({ host, port, socket }: ParsedUrl, index: number): Address & { name: string } {
  return { name: `endpoint-${index + 1}`, host, port, ...(socket === undefined ? {} : { socket }) };
}

/** TLS is one thing for all endpoints: from the flags, or from parameters of the URLs. */
function tlsOf(
  flags: Flags,
  targets: ParsedUrl[],
  changed: (name: keyof Flags) => boolean,
): NonNullable<RunSpecInput["target"]["tls"]> {
  const first = targets[0]?.tls;
  if (targets.some(({ tls }) => tls?.mode !== first?.mode || tls?.caFile !== first?.caFile))
    throw new Error("--url: sslmode and its certificate differ; expected the same in all of them");
  if (first !== undefined) {
    if (changed("tls") || changed("tlsCa"))
      throw new Error("--tls: given beside a URL's sslmode; expected one of the two");
    return first;
  }
  if (flags.tlsCa !== undefined && flags.tls !== "verify")
    throw new Error(`--tls-ca: given with --tls ${flags.tls}; expected --tls verify with it`);
  return { mode: flags.tls as "off", ...(flags.tlsCa === undefined ? {} : { caFile: flags.tlsCa }) };
}

function fromFile(flags: Flags, changed: (name: keyof Flags) => boolean): RunSpec {
  const allowed: (keyof Flags)[] = ["spec", "out", "status", "json", "workers", "passwordFile", "consistency"];
  const extra = (Object.keys(flags) as (keyof Flags)[]).find((name) => !allowed.includes(name) && changed(name));
  if (extra !== undefined)
    throw new Error(
      `--${extra.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}: not together with --spec, which says it all`,
    );
  const path = flags.spec as string;
  let input: unknown;
  try {
    input = JSON.parse(readFileSync(path === "-" ? 0 : path, "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code === undefined ? `--spec ${path}: no JSON: ${message}` : `--spec ${path} can't be read (${code})`,
    );
  }
  const spec = parse(input);
  return {
    ...spec,
    ...(flags.workers === undefined ? {} : { workers: number(flags.workers, "--workers") }),
    target: { ...spec.target, ...(flags.passwordFile === undefined ? {} : { passwordFile: flags.passwordFile }) },
  };
}

function parse(input: unknown): RunSpec {
  const parsed = runSpecSchema.safeParse(input);
  if (!parsed.success) throw new Error(explain(parsed.error, input));
  return parsed.data;
}

/** What shapes the tables is of the data, everything else of the steps. */
function splitOptions(
  pairs: string[],
  chosen: readonly Workload[],
): { data: Record<string, string>; run: Record<string, string> } {
  const data: Record<string, string> = {};
  const run: Record<string, string> = {};
  const ofTables = chosen.flatMap(({ dataset }) => Object.keys(dataset.options.shape));
  const known = [...new Set([...chosen.flatMap(({ options }) => Object.keys(options.shape)), ...ofTables])];
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new Error(`--option: ${JSON.stringify(pair)}; expected key=value`);
    const name = pair.slice(0, at).replaceAll("-", "_");
    if (!known.includes(name)) throw new Error(`--option ${name}: unknown option${suggestion(name, known)}`);
    (ofTables.includes(name) ? data : run)[name] = pair.slice(at + 1);
  }
  return { data, run };
}

export function number(text: string | undefined, flag: string): number {
  const value = text === undefined || text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(value)) throw new Error(`${flag}: ${JSON.stringify(text ?? "")}; expected a number`);
  return value;
}

export function list(text: string | undefined, flag: string): number[] {
  return (text ?? "1").split(",").map((part) => {
    const value = number(part, flag);
    if (!Number.isInteger(value) || value < 1)
      throw new Error(`${flag}: ${JSON.stringify(part)}; expected whole numbers from 1, such as 1,4,16`);
    return value;
  });
}
