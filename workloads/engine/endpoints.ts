/** Which endpoint a session's next connection goes to. */
import type { Endpoint, Target } from "../contract.ts";
import type { Random } from "./random.ts";
import type { RoleView } from "./roles/view.ts";

export class EndpointChooser {
  readonly #endpoints: Endpoint[];
  readonly #policy: Target["policy"];
  readonly #reads: Target["reads"];
  readonly #preferred: Target["preferSite"];
  readonly #roles: RoleView | null;
  #turn: number;
  /** When each endpoint last refused or lost a connection (performance.now()), to pass it over for a while. */
  readonly #failedAt = new Map<string, number>();

  /**
   * @param first position in the round to start with: sessions on other event loops or driver nodes start elsewhere
   * @param roles as the nodes answer; null: they are as the endpoints have them
   */
  constructor(
    { endpoints, policy, reads, preferSite }: Pick<Target, "endpoints" | "policy" | "reads" | "preferSite">,
    first = 0,
    roles: RoleView | null = null,
  ) {
    this.#endpoints = endpoints;
    this.#policy = policy;
    this.#reads = reads;
    this.#preferred = preferSite;
    this.#roles = roles;
    this.#turn = first;
  }

  /**
   * Endpoints for a use; only `read-write-split` looks at roles. Empty: no endpoint takes writes, or none is known to
   * while nodes are asked.
   */
  candidates(use: "read" | "write"): Endpoint[] {
    if (this.#policy !== "read-write-split") return this.#endpoints;
    const primary = this.#with("primary");
    const neutral = this.#with("any", "proxy");
    if (use === "write") return firstOf(primary, neutral);
    switch (this.#reads) {
      case "primary":
        return firstOf(primary, neutral);
      case "replicas":
        return firstOf(this.#with("replica"), neutral, primary);
      case "any":
        return this.#with("primary", "replica", "any", "proxy");
      default:
        return this.#reads satisfies never;
    }
  }

  #with(...roles: Endpoint["role"][]): Endpoint[] {
    return this.#endpoints.filter(({ name, role }) => {
      const now = this.#roles?.knows(name) ? this.#roles.of(name) : role;
      return now !== undefined && roles.includes(now);
    });
  }

  get alternatives(): boolean {
    return this.candidates("write").length > 1 || this.candidates("read").length > 1;
  }

  failed(endpoint: Endpoint): void {
    this.#failedAt.set(endpoint.name, performance.now());
  }

  worked(endpoint: Endpoint): void {
    this.#failedAt.delete(endpoint.name);
  }

  /** How long an endpoint that failed is passed over while others are there. */
  static readonly avoidMs = 2000;

  /** Undefined where there is no candidate. */
  next(use: "read" | "write", random: Random): Endpoint | undefined {
    const all = this.candidates(use);
    const now = performance.now();
    const alive = all.filter((e) => now - (this.#failedAt.get(e.name) ?? -Infinity) > EndpointChooser.avoidMs);
    const near = this.#preferred === undefined ? [] : alive.filter(({ site }) => site === this.#preferred);
    // When all have failed lately, take the one whose failure is oldest.
    const pool = firstOf(
      near,
      alive,
      all.toSorted((a, b) => (this.#failedAt.get(a.name) ?? 0) - (this.#failedAt.get(b.name) ?? 0)).slice(0, 1),
    );
    switch (this.#policy) {
      case "first-alive":
        return pool[0];
      case "random":
        return pool[random.uniform(0, pool.length - 1)];
      case "round-robin":
      case "read-write-split":
        return pool[this.#turn++ % pool.length];
      default:
        return this.#policy satisfies never;
    }
  }
}

const firstOf = (...lists: Endpoint[][]): Endpoint[] => lists.find((list) => list.length > 0) ?? [];
