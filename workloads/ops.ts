/** Operations as most workloads write them. */
import type { Statement } from "./drivers/driver.ts";
import type { Actor, Op } from "./engine/plan.ts";

/** Transaction control. A plan with BEGIN says so in `transaction`. */
export function control<State = unknown>(sql: "BEGIN" | "COMMIT" | "ROLLBACK"): Op<State> {
  return {
    kind: "control",
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
