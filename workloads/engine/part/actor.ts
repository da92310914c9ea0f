/** How a session sends its plan's operations, and what it counts of their answers. */
import type { Statement, StatementKind } from "../../drivers/driver.ts";
import type { Actor, Op, Plan } from "../plan.ts";
import type { Random } from "../random.ts";
import type { Link } from "./link.ts";
import type { Sent } from "./together.ts";
import { Group } from "./together.ts";

/**
 * One answer in this many is decoded in full and checked. A prime, so that it does not keep hitting the same statement
 * of an event.
 */
const SAMPLE_EVERY = 997;

export abstract class SessionActor implements Actor {
  readonly id: number;
  readonly random: Random;
  readonly state: unknown;
  /** How many events the one in hand was begun for, and how many it counted for when it ended. */
  batch = 1;
  events = 1;
  table = 0;
  expected = -1;
  /** Counted here since the recorder last took them, so that a statement costs one addition. */
  reads = 0;
  writes = 0;
  others = 0;
  /** Answers waited for, failures included: of operations that went together, one. */
  roundTrips = 0;
  mismatches = 0;
  sampled = 0;
  sampledWrong = 0;
  link: Link | null = null;
  protected readonly ops: readonly Op[];
  protected at = 0;
  /** Where the event goes on after a failure: at the last BEGIN, or after what was committed. */
  protected from = 0;
  /** A COMMIT or ROLLBACK is under way. */
  #ending = false;
  /** Rows changed by the last write of the event in hand. */
  protected affected = 0;
  /** The answer that is awaited is decoded, for a check or for operations to come. */
  protected captures = false;
  #sampling = false;
  #untilSample: number;
  /** One of a group that is being made. */
  #sending: Sent | null = null;
  readonly #templates: number;
  readonly #exactWriteCounts: boolean;

  constructor(id: number, random: Random, plan: Plan, exactWriteCounts: boolean) {
    this.id = id;
    this.random = random;
    this.state = plan.state?.();
    this.ops = plan.ops;
    this.#templates = plan.templates.length;
    this.#exactWriteCounts = exactWriteCounts;
    this.#untilSample = (id * 131) % SAMPLE_EVERY;
  }

  // What operations use.

  statement(template: number): Statement {
    return (this.link as Link).statements[this.table * this.#templates + template] as Statement;
  }

  text(sql: string | Uint8Array): void {
    (this.link as Link).main.query(sql);
  }

  control(sql: "BEGIN" | "COMMIT" | "ROLLBACK"): void {
    const link = this.link as Link;
    // Of a group, what stands before may still fail.
    if (this.#sending !== null) this.#sending.control = sql === "BEGIN" ? "begins" : "ends";
    else if (sql === "BEGIN") this.from = this.at;
    else this.#ending = true;
    const statement = sql === "BEGIN" ? link.begin : sql === "COMMIT" ? link.commit : null;
    if (statement === null) link.main.query(sql);
    else statement.execute();
  }

  /** Returns false when the operation had nothing to send. */
  protected send(op: Op): boolean {
    if (op.check !== undefined && --this.#untilSample < 0) {
      this.#untilSample = SAMPLE_EVERY;
      this.captures = this.#sampling = true;
    }
    if (op.keep !== undefined) this.captures = true;
    if (this.captures) (this.link as Link).reader.captureNext();
    return op.send(this);
  }

  /** The operations up to `next`, in one write. Returns null when none had anything to send. */
  protected sendTogether(next: number): Group | null {
    const { main } = this.link as Link;
    const group = new Group(next, main.pipelining);
    main.collect();
    for (; this.at < next; this.at++) {
      const op = this.ops[this.at] as Op;
      const sent = group.add(this.at);
      this.#sending = sent;
      sent.sampling = op.check !== undefined && --this.#untilSample < 0;
      if (sent.sampling) this.#untilSample = SAMPLE_EVERY;
      sent.captures = sent.sampling || op.keep !== undefined;
      if (sent.captures) main.captureNext();
      if (op.send(this)) sent.expected = this.expected;
      else group.withdraw();
    }
    this.#sending = null;
    main.flush();
    return group.empty ? null : group;
  }

  /** One of a group has been answered. */
  protected answered(sent: Sent, rows: number, affected: number): void {
    const op = this.ops[sent.at] as Op;
    this.at = sent.at;
    this.expected = sent.expected;
    this.#ending = sent.control === "ends";
    if (sent.control === "begins") this.from = sent.at;
    this.count(op.kind, rows, affected);
    if (!sent.captures) return;
    this.#sampling = sent.sampling;
    this.look(op);
  }

  protected answerFailed(): void {
    this.captures = this.#sampling = this.#ending = false;
  }

  protected count(kind: StatementKind, rows: number, affected: number): void {
    if (kind === "read") {
      this.reads++;
      if (this.expected >= 0 && rows !== this.expected) this.mismatches++;
    } else if (kind === "write") {
      this.affected = affected;
      // sysbench counts a write that changed nothing as "other".
      if (affected > 0) this.writes++;
      else this.others++;
      if (this.expected >= 0 && affected !== this.expected && this.#exactWriteCounts) this.mismatches++;
    } else {
      this.others++;
      if (!this.#ending) return;
      this.#ending = false;
      this.from = this.at + 1;
    }
  }

  protected look(op: Op): void {
    const sampled = this.#sampling;
    this.captures = this.#sampling = false;
    const rows = (this.link as Link).reader.takeRows();
    op.keep?.(this, rows ?? []);
    if (rows === null || !sampled) return;
    this.sampled++;
    if (op.check?.(rows) === false) this.sampledWrong++;
  }
}
