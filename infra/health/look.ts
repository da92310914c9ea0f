/**
 * Looks at the nodes of a standing stack, brings back what is down, and ends in one sentence where it can't. Free of
 * Pulumi: nodes are reached through `Reached`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { mtuScript, narrowest, pathScript } from "../mesh/path-mtu.ts";
import { ClusterRepair } from "./cluster-repair.ts";
import { bringGroupBack } from "./group-repair.ts";
import { Hurt, type LookedAt, type LookOptions, type OnNodes, PATIENCE, type Ran } from "./looked-at.ts";
import { tryRoutes } from "./ports.ts";
import { type MeshState, type NodeState, parseProbe, probeScript } from "./probe.ts";
import { MESH_UP, unitUp } from "./repair.ts";

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
    await this.#narrow(states);
    await this.#units(states);
    await this.#standing();
    const on: OnNodes = {
      probe: (nodes) => this.#probe(nodes),
      repair: (name, what, script) => this.#repair(name, what, script),
    };
    if (this.#options.galera) await new ClusterRepair(this.#nodes, this.#options, on).bringBack(states);
    // What was stopped has been started meanwhile.
    if (this.#options.group) await bringGroupBack(this.#nodes, this.#options, on, await this.#probe(this.#nodes));
    await tryRoutes(this.#nodes, states, this.#options.routes);
  }

  #node(name: string): LookedAt {
    return this.#nodes.find((n) => n.name === name)!;
  }

  async #probe(nodes: LookedAt[]): Promise<Map<string, NodeState>> {
    return new Map(await Promise.all(nodes.map(async (node) => [node.name, await this.#ask(node)] as const)));
  }

  async #ask(node: LookedAt): Promise<NodeState> {
    const peers = this.#nodes.filter((n) => n !== node);
    const { galera, group = false, serverUnits } = this.#options;
    const database = { galera, group, units: serverUnits };
    const script = probeScript(peers, node.roles.includes("database") ? database : undefined);
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
    for (const deadline = performance.now() + this.#patience.mesh * 1000; ; ) {
      const broken = this.#brokenPairs(seen);
      if (broken.length === 0) return seen;
      if (performance.now() > deadline) throw new Hurt(describePairs(broken, seen));
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
        if (state === "answers" || (state === "small" && this.#options.mesh.mtu === undefined)) return [];
        if (!mutual || !asConfigured(mesh) || !asConfigured(other!)) return [];
        return [{ from, to, state }];
      }),
    );
  }

  /** mesh.mtu auto: a path has become narrower than it was when the value was found. */
  async #narrow(states: Map<string, NodeState>): Promise<void> {
    const small = [...states].filter(([, { mesh }]) => mesh.peers.some((peer) => peer.state === "small"));
    if (this.#options.mesh.mtu !== undefined || small.length === 0) return;
    const printed = await Promise.all(
      small.map(async ([name, { mesh }]) => {
        const peers = this.#nodes.filter((n) =>
          mesh.peers.some((peer) => peer.name === n.name && peer.state === "small"),
        );
        return (await this.#repair(name, "measuring the path", pathScript(peers, mesh.mtu))).stdout;
      }),
    );
    const mtu = narrowest(printed, Math.min(...[...states.values()].map(({ mesh }) => mesh.mtu).filter((m) => m > 0)));
    this.#options.say(`packets of the mesh's size pass no longer between all nodes: its MTU is ${mtu} from now on`);
    const up = [...states].filter(([, { mesh }]) => mesh.state === "up").map(([name]) => name);
    await Promise.all(up.map((name) => this.#repair(name, "changing the MTU", mtuScript(mtu))));
  }

  async #units(states: Map<string, NodeState>): Promise<void> {
    for (const [name, { stopped }] of states)
      for (const unit of stopped) {
        this.#options.say(`${name}: ${unit} was stopped, starting it`);
        await this.#repair(name, `starting ${unit}`, unitUp(unit));
      }
  }

  /** One after the other: the first node is the primary until another one is promoted, and replicas can follow it again. */
  async #standing(): Promise<void> {
    const { standing } = this.#options;
    if (standing === undefined) return;
    for (const { name, roles } of this.#nodes) {
      if (!roles.includes("database")) continue;
      const ran = await this.#node(name).run(standing);
      if (ran.code !== 0) throw new Hurt(firstLine(ran.stderr) || `${name}: its role could not be looked at`);
      for (const line of ran.stdout.split("\n")) if (line !== "") this.#options.say(line);
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
