/** Operations as most workloads write them. */
import type { Statement } from "./drivers/driver.ts";
import type { Actor, Op } from "./engine/plan.ts";

/** Transaction control. A plan with BEGIN says so in `transaction`. */
export function control<State = unknown>(sql: "BEGIN" | "COMMIT" | "ROLLBACK"): Op<State> {
  return {
    kind: "control",
    ...(sql === "BEGIN" ? { begins: true } : {}),
    send(actor) {
      actor.expected = -1;
      actor.control(sql);
      return true;
    },
  };
}

/**
 * One execution of a template on table 0.
 * @param template its place in the plan's templates
 * @param fill sets the statement's parameters and, where it is known, `actor.expected`
 */
export function execute<State = unknown>(
  kind: "read" | "write",
  template: number,
  fill: (actor: Actor<State>, statement: Statement) => void,
  more: Pick<Op<State>, "check" | "keep"> = {},
): Op<State> {
  return {
    kind,
    ...more,
    send(actor) {
      actor.table = 0;
      actor.expected = -1;
      const statement = actor.statement(template);
      fill(actor, statement);
      statement.execute();
      return true;
    },
  };
}

/**
 * Operations that wait for one round trip together: their statements go out in one write, and the answers are read in
 * order. Rows that one of them keeps are there for operations behind the group, not within it. When one fails, the
 * event goes on as after any failure, once all of them are answered. What the servers do with those behind it:
 *
 * - MySQL and MariaDB run them all the same. Where the plan has transactions, a write, COMMIT or ROLLBACK is therefore
 *   not sent before the answers to what it follows have come, BEGIN apart: a deadlock ends the transaction, and the
 *   write would be done outside of it. The group is then several round trips, split there.
 * - PostgreSQL skips them. Outside of BEGIN and COMMIT the group is one transaction.
 *
 * Client libraries (TLS) and sessions with a connection for reads and one for writes send them one by one.
 */
export function pipeline<State = unknown>(ops: readonly Op<State>[]): Op<State>[] {
  return ops.map((op, i) => (i === 0 ? op : { ...op, joins: true }));
}
