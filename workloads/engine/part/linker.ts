/** Opens the connections of sessions: by the endpoint policy, at a limited rate, with a capped back-off. */
import type { Endpoint, RunSpec } from "../../contract.ts";
import { isError } from "../../dialects/errors.ts";
import { ask } from "../../drivers/ask.ts";
import type { Connection, ConnectOptions, Driver, Pipelining, Statement, StatementSpec } from "../../drivers/driver.ts";
import { DriverError } from "../../drivers/driver.ts";
import { EndpointChooser } from "../endpoints.ts";
import type { Ask, Plan } from "../plan.ts";
import type { Random } from "../random.ts";
import type { RoleView } from "../roles/view.ts";
import type { Link } from "./link.ts";
import { STATEMENT_TIMEOUT_MS } from "./patience.ts";
import { together } from "./together.ts";

const BEGIN: StatementSpec = { sql: "BEGIN", params: [], kind: "control" };
const COMMIT: StatementSpec = { sql: "COMMIT", params: [], kind: "control" };
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;
/** Connections that are opened at once when no rate is set: more makes a server's accept queue overflow. */
const AT_ONCE = 64;

/** What this machine has run out of, which is no fault of a server: local ports, file handles, buffers, memory. */
const OWN_LIMITS = new Set(["EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);
export const isOwnLimit = (error: unknown): boolean => error instanceof DriverError && OWN_LIMITS.has(error.code);

const noPrimary = (): DriverError =>
  new DriverError("no-primary", "none of the nodes says that it takes writes", "reconnect");

export class Linker {
  readonly #spec: RunSpec;
  readonly #driver: Driver;
  readonly #plan: Plan;
  readonly #options: ConnectOptions;
  readonly #chooser: EndpointChooser;
  readonly #specs: StatementSpec[];
  readonly #roles: RoleView | null;
  readonly #ahead = new Map<Pipelining, Uint16Array | null>();
  #opening = 0;
  readonly #waiting: (() => void)[] = [];
  #slot = 0;
  #stopped = false;
  readonly #perSecond: number;

  /**
   * @param perSecond this loop's share of target.connectRate; 0 is no limit
   * @param roles null: they are as the endpoints have them
   */
  constructor(
    spec: RunSpec,
    driver: Driver,
    plan: Plan,
    password: string,
    perSecond: number,
    first: number,
    roles: RoleView | null,
  ) {
    this.#spec = spec;
    this.#roles = roles;
    this.#driver = driver;
    this.#plan = plan;
    this.#perSecond = perSecond;
    const { database, user, tls, connectTimeoutMs, preparedStatements } = spec.target;
    this.#options = { database, user, password, tls, connectTimeoutMs, preparedStatements };
    this.#chooser = new EndpointChooser(spec.target, first, roles);
    this.#specs = [];
    for (let table = 0; table < plan.tables; table++)
      for (const template of plan.templates) this.#specs.push(template.spec(table));
  }

  get alternatives(): boolean {
    return this.#chooser.alternatives;
  }

  avoid(endpoint: Endpoint): void {
    this.#chooser.failed(endpoint);
  }

  /** An error of a session: where its node may not be what it was, the node is asked anew. */
  heard(error: DriverError, link: Link | null): void {
    if (link !== null && (error.action === "reconnect" || isError("readOnly", error.code)))
      this.#roles?.doubt(link.main.endpoint.name);
  }

  /** The node takes no writes any more, and another one that does is looked for. */
  moved(error: DriverError, link: Link | null): boolean {
    return isError("readOnly", error.code) && link !== null && this.#roles?.knows(link.main.endpoint.name) === true;
  }

  /** A node whose connection the session holds has another role than the one that it was chosen for. */
  misplaced(link: Link): boolean {
    if (this.#roles === null || link.rolesVersion === this.#roles.version) return false;
    const away = (use: "read" | "write", { endpoint }: Connection): boolean => {
      const places = this.#chooser.candidates(use);
      return places.length > 0 && !places.some(({ name }) => name === endpoint.name);
    };
    if (away(this.#use, link.main) || (link.reader !== link.main && away("read", link.reader))) return true;
    link.rolesVersion = this.#roles.version;
    return false;
  }

  get #use(): "read" | "write" {
    return this.#plan.readOnly ? "read" : "write";
  }

  stop(): void {
    this.#stopped = true;
    this.#roles?.release();
    for (const go of this.#waiting.splice(0)) go();
  }

  /** One try. Rejects with DriverError. */
  async open(random: Random): Promise<Link> {
    const split = this.#spec.target.policy === "read-write-split";
    const reads = this.#plan.readOnly || !this.#plan.transaction ? await this.#connect("read", random, split) : null;
    const needsWriter = !this.#plan.readOnly;
    if (!split || !needsWriter) {
      const only = reads ?? (await this.#connect(this.#use, random, split));
      return this.#prepared([only], only, only);
    }
    try {
      const writer = await this.#connect("write", random, split);
      return await this.#prepared(reads ? [writer, reads] : [writer], writer, reads ?? writer);
    } catch (error) {
      reads?.destroy();
      throw error;
    }
  }

  /**
   * Tries until there is a link that `ready` is content with, or the linker is stopped (null); `failed` hears of every
   * failure.
   */
  async openPersistently(
    random: Random,
    failed: (error: DriverError) => void,
    ready: (ask: Ask) => Promise<void> = async () => {},
  ): Promise<Link | null> {
    let pause = FIRST_PAUSE_MS;
    while (!this.#stopped) {
      let link: Link | null = null;
      try {
        link = await this.open(random);
        const { main } = link;
        await ready((sql) => ask(main, sql, this.#spec.target.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS));
        return link;
      } catch (error) {
        for (const connection of link?.connections ?? []) connection.destroy();
        if (this.#stopped) return null;
        failed(error instanceof DriverError ? error : new DriverError("client", String(error), "reconnect"));
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    }
    return null;
  }

  async #connect(use: "read" | "write", random: Random, split: boolean): Promise<Connection> {
    if (split) await this.#place(use);
    await this.#turn();
    const endpoint = this.#chooser.next(split ? use : "write", random);
    try {
      if (endpoint === undefined) throw noPrimary();
      if (this.#stopped) throw new DriverError("stopped", "the run is over", "reconnect");
      const connection = await this.#driver.connect(endpoint, this.#options);
      this.#chooser.worked(endpoint);
      return connection;
    } catch (error) {
      if (endpoint !== undefined && !isOwnLimit(error)) {
        this.#chooser.failed(endpoint);
        this.#roles?.doubt(endpoint.name);
      }
      throw error;
    } finally {
      this.#opening--;
      this.#waiting.shift()?.();
    }
  }

  /** While nobody knows of a primary there is nowhere to go: its election ends the wait, not a round of failures. */
  async #place(use: "read" | "write"): Promise<void> {
    const until = performance.now() + this.#options.connectTimeoutMs;
    while (this.#roles !== null && !this.#stopped && this.#chooser.candidates(use).length === 0) {
      const left = until - performance.now();
      if (left <= 0) throw noPrimary();
      await this.#roles.changed(left);
    }
  }

  /** Waits for a place among those that connect at once, and for this connection's time when there is a rate. */
  async #turn(): Promise<void> {
    while (this.#opening >= AT_ONCE && !this.#stopped)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#opening++;
    if (this.#perSecond <= 0) return;
    const now = performance.now();
    this.#slot = Math.max(this.#slot + 1000 / this.#perSecond, now);
    if (this.#slot > now) await new Promise((resolve) => setTimeout(resolve, this.#slot - now));
  }

  async #prepared(connections: Connection[], main: Connection, reader: Connection): Promise<Link> {
    const patience = this.#spec.target.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
    let deadline: NodeJS.Timeout | undefined;
    try {
      const lost = new Promise<never>((_, reject) => {
        for (const c of connections) c.listener = { done() {}, failed() {}, lost: reject };
        deadline = setTimeout(
          () =>
            reject(new DriverError("statement-timeout", `statements not prepared within ${patience} ms`, "reconnect")),
          patience,
        );
      });
      lost.catch(() => {});
      const statements = await Promise.race([this.#prepareAll(main, reader), lost]);
      const control = await Promise.race([this.#prepareControl(main), lost]);
      return {
        connections,
        main,
        reader,
        statements,
        begin: control[0] ?? null,
        commit: control[1] ?? null,
        rolesVersion: this.#roles?.version ?? 0,
        together: main === reader ? this.#together(main.pipelining) : null,
      };
    } catch (error) {
      for (const connection of connections) connection.destroy();
      throw error;
    } finally {
      clearTimeout(deadline);
    }
  }

  /** The same for every session, whatever it is connected to. */
  #together(pipelining: Pipelining): Uint16Array | null {
    const known = this.#ahead.get(pipelining);
    if (known !== undefined) return known;
    const counts = together(this.#plan, pipelining);
    this.#ahead.set(pipelining, counts);
    return counts;
  }

  async #prepareAll(main: Connection, reader: Connection): Promise<Statement[]> {
    if (main === reader) return main.prepare(this.#specs);
    const reads = this.#specs.filter((spec) => spec.kind === "read");
    const writes = this.#specs.filter((spec) => spec.kind !== "read");
    const [fromReader, fromMain] = await Promise.all([reader.prepare(reads), main.prepare(writes)]);
    return this.#specs.map((spec) => (spec.kind === "read" ? fromReader.shift() : fromMain.shift()) as Statement);
  }

  /**
   * sysbench prepares BEGIN and COMMIT too. A proxy that routes by statement must see them as text: a prepared START
   * TRANSACTION or COMMIT can leave one of its backends inside the transaction.
   */
  async #prepareControl(main: Connection): Promise<Statement[]> {
    if (!this.#plan.transaction || main.endpoint.role === "proxy") return [];
    return main.prepare([BEGIN, COMMIT]);
  }
}
