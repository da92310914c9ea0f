/** Which node has which role, as it was last answered. */
import type { NodeRole } from "../../dialects/dialect.ts";

/** By node name. A node that does not answer, or serves in neither role, is absent. */
export type Roles = Readonly<Record<string, NodeRole>>;

/** What event loops need of the one that asks: the state, its changes, and a way to say that something is wrong. */
export interface RoleSource {
  readonly current: Roles;
  /** @returns ends it */
  subscribe(listener: (roles: Roles) => void): () => void;
  /** A session has lost this node, or was told that it takes no writes: it counts as primary again when it says so. */
  doubt(node: string): void;
}

export const primariesOf = (roles: Roles): string[] =>
  Object.entries(roles).flatMap(([node, role]) => (role === "primary" ? [node] : []));
