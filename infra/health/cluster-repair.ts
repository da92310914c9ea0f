/** A hurt Galera cluster is brought back: what cluster.ts has planned, done on the nodes. */
import { setTimeout as sleep } from "node:timers/promises";
import { enterScript, memberScript, portsScript } from "../databases/galera-scripts.ts";
import { isGathering, type Member, needsWeight, type Plan, planCluster } from "./cluster.ts";
import { Hurt, type LookedAt, type LookOptions, type OnNodes, PATIENCE, type Ran } from "./looked-at.ts";
import type { NodeState } from "./probe.ts";
import { bootstrapScript, POSITION, SERVER_DOWN, SERVER_START, WEIGH_MORE } from "./repair.ts";

const ENTER_SECONDS = 300;
const MEMBER_SECONDS = 1800;
/** Rounds of "look, act, look again" after which something comes back as often as it is repaired. */
const ROUNDS = 5;

export class ClusterRepair {
  readonly #nodes: LookedAt[];
  readonly #options: LookOptions;
  readonly #on: OnNodes;
  readonly #patience: typeof PATIENCE;

  constructor(nodes: LookedAt[], options: LookOptions, on: OnNodes) {
    this.#nodes = nodes;
    this.#options = options;
    this.#on = on;
    this.#patience = options.patience ?? PATIENCE;
  }

  #node(name: string): LookedAt {
    return this.#nodes.find((n) => n.name === name)!;
  }

  /** @throws Hurt */
  async bringBack(first: Map<string, NodeState>): Promise<void> {
    let members = this.#members(first);
    if (isGathering(members)) members = await this.#settle();
    const recovered: Record<string, { uuid: string; seqno: number }> = {};
    let acted = false;
    for (let round = 0; ; round++) {
      const { bootstrapFrom, up } = this.#options;
      const plan = planCluster(members, { recovered, bootstrapFrom, up });
      if (plan.kind === "refused") throw new Hurt(plan.message);
      if (plan.kind === "well") break;
      if (round === ROUNDS) throw new Hurt(`database: still not whole after ${ROUNDS} attempts: ${inWords(plan)}`);
      if (plan.kind === "recover") await this.#recover(plan.ask, recovered);
      else {
        // After the first act, servers are about to move.
        if (!acted) await this.#ports();
        acted = true;
        await this.#act(plan, members);
      }
      members = this.#members(await this.#on.probe(this.#databases()));
    }
    if (needsWeight(members)) await this.#weigh(members);
  }

  /** Before a server is stopped or waited for that could not come back. */
  async #ports(): Promise<void> {
    const all = this.#databases();
    const ran = await Promise.all(
      all.map((node) => node.run(portsScript(all.filter((n) => n !== node).map((n) => n.meshAddress)))),
    );
    const closed = ran.find(({ code }) => code !== 0);
    if (closed !== undefined) throw new Hurt(closed.stderr.trim().split("\n")[0]!);
  }

  /**
   * Servers that have just been started find back to their component by themselves, and in between neither their state
   * nor their files say so: nothing is stopped before they have had their time.
   */
  async #settle(): Promise<Member[]> {
    let members: Member[] = [];
    await this.#until(this.#patience.settle, async () => {
      members = this.#members(await this.#on.probe(this.#databases()));
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
      Promise.all(names.map((name) => this.#on.repair(name, what, script)));
    switch (plan.kind) {
      case "join":
        for (const name of plan.stopped) {
          say(`${name}: the database server was stopped, starting it`);
          await this.#enter(name);
        }
        for (const name of plan.apart) await this.#rejoin(name);
        for (const name of [...plan.stopped, ...plan.apart, ...plan.waiting])
          await this.#on.repair(name, "rejoining the cluster", memberScript(MEMBER_SECONDS));
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
        await this.#on.repair(plan.from, "starting the cluster", bootstrapScript(plan.asked));
        await this.#on.repair(plan.from, "starting the cluster", memberScript(ENTER_SECONDS));
        break;
      }
      default:
        throw new Error(`unknown plan ${(plan satisfies never as Plan).kind}`);
    }
    for (const name of plan.after) {
      await this.#enter(name);
      await this.#on.repair(name, "rejoining the cluster", memberScript(MEMBER_SECONDS));
    }
  }

  #enter(name: string): Promise<Ran> {
    const peers = this.#databases().filter((n) => n.name !== name);
    const script = enterScript({
      founder: false,
      peers: peers.map((n) => n.meshAddress),
      timeoutSeconds: ENTER_SECONDS,
    });
    return this.#on.repair(name, "starting mariadb", script);
  }

  /** A node outside of the primary component finds back by itself within seconds, or by a restart. */
  async #rejoin(name: string): Promise<void> {
    const back = await this.#until(this.#patience.apart, async () => (await this.#status(name))?.cluster === "Primary");
    if (back) return;
    this.#options.say(`${name}: its server stands outside of the primary component, restarting it`);
    await this.#on.repair(name, "stopping mariadb", SERVER_DOWN);
    await this.#enter(name);
  }

  /** Returns when all of a restarted component stand in it. */
  async #gather(names: string[]): Promise<void> {
    const whole = await this.#until(this.#patience.gather, async () => {
      const states = await this.#on.probe(names.map((name) => this.#node(name)));
      const dead = names.find((name) => ["failed", "inactive"].includes(states.get(name)!.server?.unit ?? "failed"));
      // Says why: the same script that waits for a member knows where the server's last words are.
      if (dead !== undefined) await this.#on.repair(dead, "starting mariadb", memberScript(1));
      return [...states.values()].every((s) => s.server?.status?.cluster === "Primary");
    });
    if (!whole)
      throw new Hurt(
        `database: ${names.join(", ")} were started together and do not form a primary component within ${this.#patience.gather} s; journalctl -u mariadb on them says why`,
      );
  }

  async #status(name: string): Promise<NonNullable<NodeState["server"]>["status"]> {
    return (await this.#on.probe([this.#node(name)])).get(name)!.server?.status;
  }

  async #recover(ask: string[], recovered: Record<string, { uuid: string; seqno: number }>): Promise<void> {
    this.#options.say(`the database cluster is down: asking ${ask.join(", ")} for the last transaction they have`);
    await Promise.all(
      ask.map(async (name) => {
        await this.#on.repair(name, "stopping mariadb", SERVER_DOWN);
        const [uuid = "", seqno = ""] = (await this.#on.repair(name, "reading its position", POSITION)).stdout
          .trim()
          .split(":");
        recovered[name] = { uuid, seqno: seqno === "" ? -1 : Number(seqno) };
      }),
    );
  }

  async #weigh(members: Member[]): Promise<void> {
    const staying = members.filter((m) => m.server.status?.cluster === "Primary").map((m) => m.name);
    this.#options.say(`at least half of the cluster's members leave it: ${staying.join(", ")} keep the quorum`);
    for (const name of staying) await this.#on.repair(name, "changing pc.weight", WEIGH_MORE);
  }

  async #until(seconds: number, check: () => Promise<boolean>): Promise<boolean> {
    for (const deadline = performance.now() + seconds * 1000; ; ) {
      if (await check()) return true;
      if (performance.now() > deadline) return false;
      await sleep(500);
    }
  }
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
