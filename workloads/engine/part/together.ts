/** Operations that go out in one write. */
import type { DriverError, Pipelining } from "../../drivers/driver.ts";
import type { Op, Plan } from "../plan.ts";

/**
 * How many operations, from each one on, are sent before an answer is awaited; null where each waits for its own.
 * A server that goes on behind a failure would run what follows outside of the transaction that the failure has ended:
 * there, in a plan with transactions, nothing that changes data is sent behind an operation whose answer is not known,
 * BEGIN apart.
 */
export function together({ ops, transaction }: Plan, pipelining: Pipelining): Uint16Array | null {
  if (pipelining === "none" || !ops.some(({ joins }) => joins)) return null;
  const careful = pipelining === "goes-on" && transaction;
  const counts = new Uint16Array(ops.length).fill(1);
  for (let at = ops.length - 2; at >= 0; at--) {
    const [op, next] = [ops[at] as Op, ops[at + 1] as Op];
    const waits = careful && next.kind !== "read" && op.begins !== true;
    if (next.joins === true && !waits) counts[at] = (counts[at + 1] as number) + 1;
  }
  return counts;
}

/** What the session has to know of an operation when its answer comes. */
export interface Sent {
  readonly at: number;
  expected: number;
  captures: boolean;
  sampling: boolean;
  control: "begins" | "ends" | null;
}

/** Operations that were sent together, until all of them are answered. */
export class Group {
  /** The operation behind them. */
  readonly next: number;
  /** The first failure among them: the event is tried again when all have been answered. */
  error: DriverError | null = null;
  needsRollback = false;
  readonly #skips: boolean;
  readonly #sent: Sent[] = [];
  #answered = 0;

  constructor(next: number, pipelining: Pipelining) {
    this.next = next;
    this.#skips = pipelining === "skips";
  }

  add(at: number): Sent {
    const sent: Sent = { at, expected: -1, captures: false, sampling: false, control: null };
    this.#sent.push(sent);
    return sent;
  }

  /** The operation sent nothing. */
  withdraw(): void {
    this.#sent.pop();
  }

  get empty(): boolean {
    return this.#sent.length === 0;
  }

  /** Whose answer has come. */
  answered(): Sent {
    return this.#sent[this.#answered++] as Sent;
  }

  failed(error: DriverError): void {
    this.#answered = this.#skips ? this.#sent.length : this.#answered + 1;
    this.error ??= error;
    this.needsRollback ||= error.needsRollback;
  }

  get over(): boolean {
    return this.#answered === this.#sent.length;
  }
}
