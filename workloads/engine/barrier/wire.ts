/** What drivers tell each other at a barrier: one JSON document per line. */
import type { Socket } from "node:net";
import { z } from "zod";

/** From a driver that calls. */
export const fromCaller = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("join"), key: z.string(), index: z.number().int(), count: z.number().int() }),
  /** Asks for the keeper's clock, and shows that the caller lives. */
  z.strictObject({ kind: z.literal("ping"), n: z.number().int() }),
  z.strictObject({ kind: z.literal("arrived"), point: z.string(), ok: z.boolean(), rttMs: z.number() }),
  z.strictObject({ kind: z.literal("stop"), reason: z.string() }),
  z.strictObject({ kind: z.literal("leave") }),
]);

/** From the driver that keeps the barrier. */
export const fromKeeper = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("welcome"), runId: z.string() }),
  z.strictObject({ kind: z.literal("refused"), reason: z.string() }),
  z.strictObject({ kind: z.literal("pong"), n: z.number().int(), at: z.number() }),
  z.strictObject({ kind: z.literal("go"), point: z.string(), at: z.number(), allOk: z.boolean() }),
  z.strictObject({ kind: z.literal("stop"), reason: z.string() }),
  z.strictObject({ kind: z.literal("leave") }),
]);

export type FromCaller = z.infer<typeof fromCaller>;
export type FromKeeper = z.infer<typeof fromKeeper>;

/** Longer than any of them: whoever sends more speaks another language. */
const LONGEST = 4096;

/** Calls `hear` for each document; a line that is none ends the connection. */
export function listen<T>(socket: Socket, schema: z.ZodType<T>, hear: (message: T) => void): void {
  let rest = "";
  socket.setEncoding("utf8").setNoDelay(true);
  socket.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      const message = parse(line, schema);
      if (message === undefined || socket.destroyed) return void socket.destroy();
      hear(message);
    }
    if (rest.length > LONGEST) socket.destroy();
  });
}

function parse<T>(line: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

export function tell(socket: Socket, message: FromCaller | FromKeeper): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}
