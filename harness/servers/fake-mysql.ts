/**
 * A fake: it speaks as much of MySQL's protocol as the load engine needs, keeps no data, and answers every SELECT with
 * the rows that sysbench's tables would return for it. Its answers can be stalled, delayed, refused or cut at exact
 * moments, which a real server can't be made to do.
 */
import net from "node:net";
import { SESSION_SETUP } from "../../workloads/drivers/mysql/settings.ts";
import { errPayload, okPayload, packet, prepareAnswer, resultSet } from "./mysql-answers.ts";

const C = `${"12345678901-".repeat(9)}12345678901`;

export interface FakeStatement {
  sql: string;
  params: number[];
  /** Number of the connection, from 1. */
  connection: number;
}

export class FakeMysql {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  port = 0;
  connections = 0;
  /** Statements in the order in which they came, transaction control included. */
  readonly log: FakeStatement[] = [];
  keepLog = false;
  /** Milliseconds before an answer. */
  delay: (statement: FakeStatement) => number = () => 0;
  /** An error instead of the answer. */
  refuse: (statement: FakeStatement) => { code: number; message: string } | null = () => null;
  /** Rows that an answer lacks. */
  missing: (statement: FakeStatement) => number = () => 0;
  /** Error that greets new connections. */
  greeting: { code: number; message: string } | null = null;
  #stalled: (() => void)[] | null = null;

  private constructor() {
    this.#server = net.createServer((socket) => this.#serve(socket));
  }

  static async start(): Promise<FakeMysql> {
    const fake = new FakeMysql();
    await new Promise<void>((resolve) => fake.#server.listen(0, "127.0.0.1", resolve));
    fake.port = (fake.#server.address() as net.AddressInfo).port;
    return fake;
  }

  /** Holds all answers back until `resume`. */
  stall(): void {
    this.#stalled ??= [];
  }

  resume(): void {
    const answers = this.#stalled ?? [];
    this.#stalled = null;
    for (const answer of answers) answer();
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: net.Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {});
    const connection = ++this.connections;
    const prepared: string[] = [];
    if (this.greeting) {
      socket.end(packet(0, errPayload(this.greeting.code, "08004", this.greeting.message)));
      return;
    }
    socket.write(packet(0, greeting(connection)));
    let greeted = false;
    let held = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 4 && held.length >= 4 + held.readUIntLE(0, 3)) {
        const length = held.readUIntLE(0, 3);
        const sequence = held[3]!;
        const payload = Buffer.from(held.subarray(4, 4 + length));
        held = held.subarray(4 + length);
        if (!greeted) {
          greeted = true;
          socket.write(packet(sequence + 1, okPayload(0)));
        } else {
          this.#command(socket, payload, prepared, connection);
        }
      }
    });
  }

  #command(socket: net.Socket, payload: Buffer, prepared: string[], connection: number): void {
    const command = payload[0];
    if (command === 0x01) {
      socket.end();
    } else if (command === 0x16) {
      const sql = payload.toString("utf8", 1);
      prepared.push(sql);
      socket.write(prepareAnswer(prepared.length, sql.split("?").length - 1, isRead(sql) ? 1 : 0, false));
    } else if (command === 0x03 && payload.toString("utf8", 1) === SESSION_SETUP) {
      // Part of opening a session: what a test makes of the statements is about the load's own.
      socket.write(packet(1, okPayload(0)));
    } else if (command === 0x03) {
      this.#answer(socket, { sql: payload.toString("utf8", 1), params: [], connection }, false);
    } else if (command === 0x17) {
      const sql = prepared[payload.readUInt32LE(1) - 1]!;
      this.#answer(socket, { sql, params: intParams(payload, sql), connection }, true);
    }
  }

  #answer(socket: net.Socket, statement: FakeStatement, binary: boolean): void {
    // What the engine asks about the server is no part of the load.
    if (this.keepLog && !statement.sql.startsWith("SHOW ")) this.log.push(statement);
    const send = (): void => {
      if (socket.destroyed) return;
      const error = this.refuse(statement);
      socket.write(
        error
          ? packet(1, errPayload(error.code, "HY000", error.message))
          : answerTo(statement, binary, this.missing(statement)),
      );
    };
    const delayed = (): void => {
      const ms = this.delay(statement);
      if (ms > 0) setTimeout(send, ms);
      else send();
    };
    if (this.#stalled) this.#stalled.push(delayed);
    else delayed();
  }
}

function isRead(sql: string): boolean {
  return /^\s*SELECT/i.test(sql);
}

function answerTo({ sql, params }: FakeStatement, binary: boolean, missing: number): Buffer {
  if (!isRead(sql)) return packet(1, okPayload(/^(UPDATE|DELETE|INSERT)/i.test(sql) ? sql.split("),(").length : 0));
  const single = /SUM\(|count\(|MAX\(/i.test(sql);
  const rows = (single || params.length < 2 ? 1 : params[1]! - params[0]! + 1) - missing;
  const cells = Array.from({ length: rows }, (_, i) => [
    single ? "5000" : C.replace(/\d{11}$/, String(i).padStart(11, "0")),
  ]);
  return resultSet({ columns: [{ name: "c", type: single ? 246 : 254 }], rows: cells }, binary, {
    deprecateEof: false,
    cacheMetadata: false,
  }).bytes;
}

/** Values of a statement whose parameters are all integers; the types stand in front of them the first time. */
function intParams(payload: Buffer, sql: string): number[] {
  const count = sql.split("?").length - 1;
  if (count === 0 || /INSERT|c=\?/.test(sql)) return [];
  const flag = 10 + ((count + 7) >> 3);
  const at = flag + 1 + (payload[flag] === 1 ? 2 * count : 0);
  return Array.from({ length: count }, (_, i) => payload.readInt32LE(at + 4 * i));
}

function greeting(connection: number): Buffer {
  // PROTOCOL_41, SECURE_CONNECTION, TRANSACTIONS, CONNECT_WITH_DB, PLUGIN_AUTH, MULTI_RESULTS, LONG_PASSWORD and
  // LONG_FLAG
  const capabilities = 0x0000_0001 | 0x4 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x2_0000 | 0x8_0000;
  const head = Buffer.concat([
    Buffer.from([10]),
    Buffer.from("5.5.5-10.11.0-MariaDB-fake\0"),
    Buffer.alloc(4),
    Buffer.from("12345678\0"),
  ]);
  head.writeUInt32LE(connection, head.length - 13);
  const tail = Buffer.alloc(18);
  tail.writeUInt16LE(capabilities & 0xffff, 0);
  tail[2] = 45;
  tail.writeUInt16LE(2, 3);
  tail.writeUInt16LE(capabilities >>> 16, 5);
  tail[7] = 21;
  return Buffer.concat([head, tail, Buffer.from("123456789012\0"), Buffer.from("mysql_native_password\0")]);
}
