/** A plain SQL session to one address, for work that is not measured: preparing, verifying, looking at the server. */

import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import mysql from "mysql2/promise";
import pTimeout from "p-timeout";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import type { Endpoint, Target } from "./contract.ts";
import { isError } from "./dialects/errors.ts";
import type { Address as ServerAddress } from "./drivers/address.ts";
import { shown } from "./drivers/address.ts";
import { messageOf } from "./drivers/messages.ts";
import { mysqlSettings, SESSION_SETUP } from "./drivers/mysql/settings.ts";
import { tlsSettings } from "./drivers/tls.ts";
import { readPassword } from "./secrets.ts";

export type SqlRow = Record<string, unknown>;
export type Address = ServerAddress & { name?: string };

export interface Session {
  readonly address: Address;
  /** PostgreSQL: the session's number as the other side told it; a pooler makes one up. */
  readonly backend?: number | undefined;
  /**
   * Rows of one statement; numbers that may exceed 2^53 come as strings. Rejects after timeoutMs and ends the session.
   */
  query(sql: string, timeoutMs?: number): Promise<SqlRow[]>;
  /** LOAD DATA LOCAL INFILE or COPY ... FROM STDIN, fed from the stream; resolves to the rows that the server took. */
  load(sql: string, data: Readable, timeoutMs?: number): Promise<number>;
  /** Ends it now, whatever is under way. */
  close(): void;
}

/** The server's number or SQLSTATE, or the system's code; "" when there is none. */
export function errorCode(error: unknown): string {
  const { errno, code } = error as { errno?: number; code?: string };
  if (typeof errno === "number" && errno > 0) return String(errno);
  return code ?? "";
}

export function isTransient(error: unknown): boolean {
  const code = errorCode(error);
  return (
    isError("transient", code) ||
    /Connection (terminated|lost|ended)|closed state/i.test((error as Error).message ?? "")
  );
}

/** One line that says what went wrong and where, without a stack. */
export function describe(error: unknown, address: Address, target: Pick<Target, "user" | "database" | "tls">): string {
  const code = errorCode(error);
  const where = shown(address);
  const message = (messageOf(error) || code || String(error)).split("\n", 1)[0]!;
  if (isError("diskFull", code) && (code !== "1030" || /28|space/i.test(message)))
    return `${where}: no space left for the data (${code}: ${message}); free space or use fewer or smaller tables, then prepare again: what is loaded is kept`;
  const withoutTls = target.tls.mode === "off";
  if (isError("tlsOnly", code) || (withoutTls && /no encryption|SSL off/.test(message)))
    return `${where}: user "${target.user}" is let in over TLS only; expected --tls require or verify (target.tls.mode) (${code}: ${message})`;
  if (isError("loginRefused", code))
    return `${where}: the server refuses user "${target.user}" with this password (${code}: ${message})`;
  if (isError("noDatabase", code))
    return `${where}: there is no database "${target.database}" (${code}): create it first`;
  if (isError("noRight", code))
    return `${where}: user "${target.user}" lacks a right on database "${target.database}" (${code}: ${message})`;
  if (code === "ECONNREFUSED") return `${where}: nothing listens there (ECONNREFUSED)`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `${where}: the host name is not known (${code})`;
  if (code === "ETIMEDOUT") return `${where}: no answer in time (ETIMEDOUT)`;
  return `${where}: ${message}${code && !message.includes(code) ? ` (${code})` : ""}`;
}

/** noDatabase: a MySQL session without a default database, which a Galera node takes in any state. */
export type SessionOptions = { connectTimeoutMs?: number; noDatabase?: boolean };

export async function openSession(
  target: Target,
  address: Endpoint | Address,
  options: SessionOptions = {},
): Promise<Session> {
  return OPEN[target.driver](target, address, options);
}

async function openMysql(
  target: Target,
  address: Address,
  { connectTimeoutMs = target.connectTimeoutMs, noDatabase = false }: SessionOptions,
): Promise<Session> {
  const connection = await mysql.createConnection({
    ...mysqlSettings(address, { user: target.user, password: readPassword(target), tls: target.tls }),
    ...(noDatabase ? {} : { database: target.database }),
    connectTimeout: connectTimeoutMs,
    supportBigNumbers: true,
  });
  // A connection that dies while idle has no caller to tell; the next statement reports it.
  connection.on("error", () => {});
  try {
    await within(connection.query(SESSION_SETUP), connectTimeoutMs, () => connection.destroy());
  } catch (error) {
    connection.destroy();
    throw error;
  }
  // mysql2 leaves a statement that was under way without an answer when its connection is destroyed.
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});
  const run = async (
    options: { sql: string; infileStreamFactory?: () => Readable },
    timeoutMs: number | undefined,
  ): Promise<unknown> => {
    const work = connection.query(options as never).then(([answer]) => answer as unknown);
    return within(Promise.race([work, closed.promise]), timeoutMs, () => connection.destroy());
  };
  return {
    address,
    async query(sql, timeoutMs) {
      const answer = await run({ sql }, timeoutMs);
      return Array.isArray(answer) ? (answer as SqlRow[]) : [];
    },
    async load(sql, data, timeoutMs) {
      return ((await run({ sql, infileStreamFactory: () => data }, timeoutMs)) as { affectedRows: number })
        .affectedRows;
    },
    close() {
      connection.destroy();
      closed.reject(Object.assign(new Error("the session was closed"), { code: "PROTOCOL_CONNECTION_LOST" }));
    },
  };
}

async function openPostgres(
  target: Target,
  address: Address,
  { connectTimeoutMs = target.connectTimeoutMs }: SessionOptions,
): Promise<Session> {
  const ssl = tlsSettings(target.tls);
  const client = new pg.Client({
    host: address.socket ?? address.host,
    port: address.port,
    user: target.user,
    password: readPassword(target),
    database: target.database,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: "meshbench",
    ...(ssl ? { ssl } : {}),
  });
  client.on("error", () => {});
  const close = (): void => {
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  };
  try {
    await client.connect();
  } catch (error) {
    close();
    throw error;
  }
  return {
    address,
    // pg keeps it for cancel requests and declares it nowhere.
    backend: (client as unknown as { processID?: number }).processID,
    query: (sql, timeoutMs) =>
      within(
        client.query(sql).then((result) => (Array.isArray(result) ? [] : (result.rows as SqlRow[]))),
        timeoutMs,
        close,
      ),
    async load(sql, data, timeoutMs) {
      const copy = client.query(copyFrom(sql));
      await within(pipeline(data, copy), timeoutMs, close);
      return copy.rowCount;
    },
    close,
  };
}

async function within<T>(work: Promise<T>, timeoutMs: number | undefined, end: () => void): Promise<T> {
  if (timeoutMs === undefined) return work;
  const late = Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: "ETIMEDOUT" });
  try {
    return await pTimeout(work, { milliseconds: timeoutMs, message: late });
  } catch (error) {
    if (error === late) end();
    throw error;
  }
}

/** By protocol. */
const OPEN = { mysql: openMysql, postgres: openPostgres } satisfies Record<Target["driver"], unknown>;
