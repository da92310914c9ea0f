/**
 * Looks at the nodes of a standing stack, brings back what is down, and ends in one sentence where it can't. Free of
 * Pulumi: nodes are reached through `Reached`.
 */
import { enterScript, memberScript } from "../databases/galera-scripts.ts";
import type { Role } from "../topology.ts";
import { isGathering, type Member, needsWeight, type Plan, planCluster } from "./cluster.ts";
import { type MeshState, type NodeState, parseProbe, probeScript } from "./probe.ts";
import { bootstrapScript, MESH_UP, POSITION, SERVER_DOWN, SERVER_START, unitUp, WEIGH_MORE } from "./repair.ts";

/** What a script on a node came to. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface LookedAt {
  name: string;
  roles: Role[];
  meshAddress: string;
  /** Where SSH goes, for sentences. */
  host: string;
  /** Runs a script as root. Rejects when the node does not answer. */
  run(script: string): Promise<Ran>;
  /** Starts a node that is down; absent where nobody here can. */
  bringBack?: (() => Promise<void>) | undefined;
  /** What to do with a node that does not come back. */
  advice: string;
}

export interface LookOptions {
  galera: boolean;
  /** Units of a database that is a server alone. */
  serverUnits: readonly string[];
  /** As configured: a node that has others gets them by the steps to come. mtu undefined: found out by the nodes. */
  mesh: { port: number; mtu: number | undefined };
  bootstrapFrom: string | undefined;
  /** How the operator calls `up` on this stack. */
  up: string;
  say(line: string): void;
  /** For tests; seconds. */
  patience?: { mesh: number; settle: number; gather: number; apart: number };
}

/** One sentence for the user. */
export class Hurt extends Error {}

const ENTER_SECONDS = 300;
const MEMBER_SECONDS = 1800;
/** Rounds of "look, act, look again" after which something comes back as often as it is repaired. */
const ROUNDS = 5;
const PATIENCE = { mesh: 15, settle: 20, gather: 300, apart: 45 };

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim() ?? "";
const firstLine = (text: string): string => text.trim().split("\n")[0]?.trim() ?? "";

export class Look {
  readonly #nodes: LookedAt[];
  readonly #options: LookOptions;
  readonly #patience: typeof PATIENCE;

  constructor(nodes: LookedAt[], options: LookOptions) {
    this.#nodes = nodes;
    this.#options = options;
    this.#patience = options.patience ?? PATIENCE;
  }

  /** @throws Hurt */
  async all(): Promise<void> {
    let states = await this.#probe(this.#nodes);
    states = await this.#mesh(states);
    await this.#units(states);
    if (this.#options.galera) await this.#cluster(states);
  }

  #node(name: string): LookedAt {
    return this.#nodes.find((n) => n.name === name)!;
  }

  async #probe(nodes: LookedAt[]): Promise<Map<string, NodeState>> {
    return new Map(await Promise.all(nodes.map(async (node) => [node.name, await this.#ask(node)] as const)));
  }

  async #ask(node: LookedAt): Promise<NodeState> {
    const peers = this.#nodes.filter((n) => n !== node);
    const { galera, serverUnits } = this.#options;
    const script = probeScript(peers, node.roles.includes("database") ? { galera, units: serverUnits } : undefined);
    let ran: Ran;
    try {
      ran = await node.run(script);
    } catch (error) {
      const why = (error as Error).message;
      if (node.bringBack === undefined)
        throw new Hurt(`${node.name} does not answer at ${node.host} (${why}); ${node.advice}`);
      this.#options.say(`${node.name} does not answer (${why}): starting it`);
      try {
        await node.bringBack();
        ran = await node.run(script);
      } catch (again) {
        throw new Hurt(`${node.name} does not come back: ${(again as Error).message}; ${node.advice}`);
      }
    }
    if (ran.code !== 0)
      throw new Hurt(`${node.name} can't be looked at: ${lastLine(ran.stderr) || `exit code ${ran.code}`}`);
    return parseProbe(ran.stdout);
  }

  /** Runs a repair; its failure is the sentence. */
  async #repair(name: string, what: string, script: string): Promise<Ran> {
    const ran = await this.#node(name).run(script);
    if (ran.code !== 0) throw new Hurt(`${name}: ${what} failed: ${firstLine(ran.stderr) || `exit code ${ran.code}`}`);
    return ran;
  }

  async #mesh(states: Map<string, NodeState>): Promise<Map<string, NodeState>> {
    const down = [...states].filter(([, s]) => s.mesh.state === "down").map(([name]) => name);
    await Promise.all(
      down.map(async (name) => {
        this.#options.say(`${name}: the mesh interface was down, bringing it up`);
        await this.#repair(name, "bringing wg0 up", MESH_UP);
      }),
    );
    let seen = down.length > 0 ? await this.#probe(this.#nodes) : states;
    let mended = false;
    // A handshake that is lost is tried again after five seconds.
    for (const deadline = Date.now() + this.#patience.mesh * 1000; ; ) {
      const broken = this.#brokenPairs(seen);
      if (broken.length === 0) return seen;
      if (Date.now() > deadline) throw new Hurt(describePairs(broken, seen));
      if (!mended) mended = await this.#mend(broken);
      await sleep(1000);
      seen = await this.#probe(this.#nodes);
    }
  }

  /** The network between nodes that are there may be what is down, where it is ours. */
  async #mend(broken: Pair[]): Promise<boolean> {
    const node = broken.map(({ from }) => this.#node(from)).find((n) => n.bringBack !== undefined);
    await node?.bringBack?.();
    return true;
  }

  /** Pairs that have each other in their files, are as configured, and don't hear each other. */
  #brokenPairs(states: Map<string, NodeState>): Pair[] {
    const asConfigured = ({ state, port, mtu }: MeshState): boolean =>
      state === "up" && port === this.#options.mesh.port && (this.#options.mesh.mtu ?? mtu) === mtu;
    return [...states].flatMap(([from, { mesh }]) =>
      mesh.peers.flatMap(({ name: to, state }): Pair[] => {
        const other = states.get(to)?.mesh;
        const mutual = other?.peers.some((peer) => peer.name === from) ?? false;
        if (state === "answers" || !mutual || !asConfigured(mesh) || !asConfigured(other!)) return [];
        return [{ from, to, state }];
      }),
    );
  }

  async #units(states: Map<string, NodeState>): Promise<void> {
    for (const [name, { stopped }] of states)
      for (const unit of stopped) {
        this.#options.say(`${name}: ${unit} was stopped, starting it`);
        await this.#repair(name, `starting ${unit}`, unitUp(unit));
      }
  }

  async #cluster(first: Map<string, NodeState>): Promise<void> {
    let members = this.#members(first);
    if (isGathering(members)) members = await this.#settle();
    const recovered: Record<string, { uuid: string; seqno: number }> = {};
    for (let round = 0; ; round++) {
      const { bootstrapFrom, up } = this.#options;
      const plan = planCluster(members, { recovered, bootstrapFrom, up });
      if (plan.kind === "refused") throw new Hurt(plan.message);
      if (plan.kind === "well") break;
      if (round === ROUNDS) throw new Hurt(`database: still not whole after ${ROUNDS} attempts: ${inWords(plan)}`);
      if (plan.kind === "recover") await this.#recover(plan.ask, recovered);
      else await this.#act(plan, members);
      members = this.#members(await this.#probe(this.#databases()));
    }
    if (needsWeight(members)) await this.#weigh(members);
  }

  /**
   * Servers that have just been started find back to their component by themselves, and in between neither their state
   * nor their files say so: nothing is stopped before they have had their time.
   */
  async #settle(): Promise<Member[]> {
    let members: Member[] = [];
    await this.#until(this.#patience.settle, async () => {
      members = this.#members(await this.#probe(this.#databases()));
      return !isGathering(members);
    });
    return members;
  }

  #databases(): LookedAt[] {
    return this.#nodes.filter((n) => n.roles.includes("database"));
  }

  #members(states: Map<string, NodeState>): Member[] {
    return this.#databases().flatMap(({ name, meshAddress }) => {
      const server = states.get(name)?.server;
      return server === undefined ? [] : [{ name, meshAddress, server }];
    });
  }

  async #act(plan: Exclude<Plan, { kind: "well" | "refused" | "recover" }>, members: Member[]): Promise<void> {
    const { say } = this.#options;
    const each = (names: string[], what: string, script: string): Promise<unknown> =>
      Promise.all(names.map((name) => this.#repair(name, what, script)));
    switch (plan.kind) {
      case "join":
        for (const name of plan.stopped) {
          say(`${name}: the database server was stopped, starting it`);
          await this.#enter(name);
        }
        for (const name of plan.apart) await this.#rejoin(name);
        for (const name of [...plan.stopped, ...plan.apart, ...plan.waiting])
          await this.#repair(name, "rejoining the cluster", memberScript(MEMBER_SECONDS));
        return;
      case "restart":
        say(
          `the database cluster is down: starting ${plan.together.join(", ")}, which were its last primary component`,
        );
        await each(plan.together, "starting mariadb", SERVER_START);
        await this.#gather(plan.together);
        break;
      case "bootstrap": {
        const why = plan.asked ? "as MESHBENCH_BOOTSTRAP_FROM says" : "which left it last";
        say(`the database cluster is down: starting it from ${plan.from}, ${why}`);
        await each(
          members.map((m) => m.name),
          "stopping mariadb",
          SERVER_DOWN,
        );
        await this.#repair(plan.from, "starting the cluster", bootstrapScript(plan.asked));
        await this.#repair(plan.from, "starting the cluster", memberScript(ENTER_SECONDS));
        break;
      }
      default:
        throw new Error(`unknown plan ${(plan satisfies never as Plan).kind}`);
    }
    for (const name of plan.after) {
      await this.#enter(name);
      await this.#repair(name, "rejoining the cluster", memberScript(MEMBER_SECONDS));
    }
  }

  #enter(name: string): Promise<Ran> {
    const peers = this.#databases().filter((n) => n.name !== name);
    const script = enterScript({
      founder: false,
      peers: peers.map((n) => n.meshAddress),
      timeoutSeconds: ENTER_SECONDS,
    });
    return this.#repair(name, "starting mariadb", script);
  }

  /** A node outside of the primary component finds back by itself within seconds, or by a restart. */
  async #rejoin(name: string): Promise<void> {
    const back = await this.#until(this.#patience.apart, async () => (await this.#status(name))?.cluster === "Primary");
    if (back) return;
    this.#options.say(`${name}: its server stands outside of the primary component, restarting it`);
    await this.#repair(name, "stopping mariadb", SERVER_DOWN);
    await this.#enter(name);
  }

  /** Returns when all of a restarted component stand in it. */
  async #gather(names: string[]): Promise<void> {
    const whole = await this.#until(this.#patience.gather, async () => {
      const statuses = await Promise.all(names.map((name) => this.#ask(this.#node(name))));
      const dead = names.find((_, i) => ["failed", "inactive"].includes(statuses[i]!.server?.unit ?? "failed"));
      // Says why: the same script that waits for a member knows where the server's last words are.
      if (dead !== undefined) await this.#repair(dead, "starting mariadb", memberScript(1));
      return statuses.every((s) => s.server?.status?.cluster === "Primary");
    });
    if (!whole)
      throw new Hurt(
        `database: ${names.join(", ")} were started together and do not form a primary component within ${this.#patience.gather} s; journalctl -u mariadb on them says why`,
      );
  }

  async #status(name: string): Promise<NonNullable<NodeState["server"]>["status"]> {
    return (await this.#ask(this.#node(name))).server?.status;
  }

  async #recover(ask: string[], recovered: Record<string, { uuid: string; seqno: number }>): Promise<void> {
    this.#options.say(`the database cluster is down: asking ${ask.join(", ")} for the last transaction they have`);
    await Promise.all(
      ask.map(async (name) => {
        await this.#repair(name, "stopping mariadb", SERVER_DOWN);
        const [uuid = "", seqno = ""] = (await this.#repair(name, "reading its position", POSITION)).stdout
          .trim()
          .split(":");
        recovered[name] = { uuid, seqno: seqno === "" ? -1 : Number(seqno) };
      }),
    );
  }

  async #weigh(members: Member[]): Promise<void> {
    const staying = members.filter((m) => m.server.status?.cluster === "Primary").map((m) => m.name);
    this.#options.say(`at least half of the cluster's members leave it: ${staying.join(", ")} keep the quorum`);
    for (const name of staying) await this.#repair(name, "changing pc.weight", WEIGH_MORE);
  }

  async #until(seconds: number, check: () => Promise<boolean>): Promise<boolean> {
    for (const deadline = Date.now() + seconds * 1000; ; ) {
      if (await check()) return true;
      if (Date.now() > deadline) return false;
      await sleep(500);
    }
  }
}

interface Pair {
  from: string;
  to: string;
  state: "small" | "silent";
}

function describePairs(pairs: Pair[], states: Map<string, NodeState>): string {
  const each = new Map(pairs.map((p) => [[p.from, p.to].sort().join(" and "), p]));
  const [[between, { state, from }]] = [...each] as [[string, Pair]];
  const more = each.size > 1 ? ` (and between ${each.size - 1} more pairs)` : "";
  const { mtu, port } = states.get(from)!.mesh;
  return state === "small"
    ? `meshbench:mesh.mtu: ${mtu}; packets of that size do not pass between ${between}${more} any more, expected a smaller value or "auto"`
    : `mesh: no packet passes between ${between}${more}; is UDP port ${port} (meshbench:mesh.port) open between them, and are their addresses still those that they had?`;
}

function inWords(plan: Plan): string {
  switch (plan.kind) {
    case "join":
      return [
        ...plan.stopped.map((name) => `${name} stopped`),
        ...plan.apart.map((name) => `${name} outside of the primary component`),
        ...plan.waiting.map((name) => `${name} not in sync`),
      ].join(", ");
    case "restart":
      return `${[...plan.together, ...plan.after].join(", ")} down`;
    case "bootstrap":
      return `${[plan.from, ...plan.after].join(", ")} down`;
    case "recover":
      return `${plan.ask.join(", ")} down`;
    default:
      return plan.kind;
  }
}
