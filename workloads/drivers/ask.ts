/** One question on a connection that is not in use. */
import type { Connection, Value } from "./driver.ts";
import { DriverError } from "./driver.ts";

/** Runs one text query on a connection that is not yet in use. Rejects with DriverError, also when no answer comes. */
export async function ask(connection: Connection, sql: string, patienceMs: number): Promise<Value[][]> {
  let deadline: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      connection.listener = {
        done: () => resolve(connection.takeRows() ?? []),
        failed: reject,
        lost: reject,
      };
      deadline = setTimeout(
        () => reject(new DriverError("statement-timeout", `no answer within ${patienceMs} ms to ${sql}`, "reconnect")),
        patienceMs,
      );
      connection.captureNext();
      connection.query(sql);
    });
  } finally {
    clearTimeout(deadline);
  }
}
