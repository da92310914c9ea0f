/** Which endpoint a session's next connection goes to. */
import type { Endpoint, Target } from "../contract.ts";
import type { Random } from "./random.ts";

export class EndpointChooser {
  readonly #endpoints: Endpoint[];
  readonly #policy: Target["policy"];
  #turn: number;
  /** When each endpoint last refused or lost a connection (performance.now()), to pass it over for a while. */
  readonly #failedAt = new Map<string, number>();

  /** @param first position in the round to start with: sessions on other event loops or driver nodes start elsewhere */
  constructor(endpoints: Endpoint[], policy: Target["policy"], first = 0) {
    this.#endpoints = endpoints;
    this.#policy = policy;
    this.#turn = first;
  }

  /** Endpoints for a role; a split needs at least one for each. Only `read-write-split` looks at roles. */
  candidates(use: "read" | "write"): Endpoint[] {
    if (this.#policy !== "read-write-split") return this.#endpoints;
    const wanted = this.#endpoints.filter((e) => e.role === (use === "read" ? "replica" : "primary"));
    if (wanted.length > 0) return wanted;
    const neutral = this.#endpoints.filter((e) => e.role === "any" || e.role === "proxy");
    if (neutral.length > 0) return neutral;
    return use === "read" ? this.#endpoints : [];
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

  next(use: "read" | "write", random: Random): Endpoint {
    const all = this.candidates(use);
    const now = performance.now();
    const alive = all.filter((e) => now - (this.#failedAt.get(e.name) ?? -Infinity) > EndpointChooser.avoidMs);
    // When all have failed lately, take the one whose failure is oldest.
    const pool =
      alive.length > 0
        ? alive
        : all.toSorted((a, b) => (this.#failedAt.get(a.name) ?? 0) - (this.#failedAt.get(b.name) ?? 0)).slice(0, 1);
    switch (this.#policy) {
      case "first-alive":
        return pool[0] as Endpoint;
      case "random":
        return pool[random.uniform(0, pool.length - 1)] as Endpoint;
      case "round-robin":
      case "read-write-split":
        return pool[this.#turn++ % pool.length] as Endpoint;
      default:
        return this.#policy satisfies never;
    }
  }
}
