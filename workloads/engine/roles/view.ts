/** One event loop's knowledge of the nodes' roles, kept up by the thread that asks them. */
import type { NodeRole } from "../../dialects/dialect.ts";
import { primariesOf, type Roles } from "./roles.ts";

export class RoleView {
  /** Grows with every change. */
  version = 0;
  #roles: Roles = {};
  readonly #nodes: ReadonlySet<string>;
  readonly #tell: (node: string) => void;
  #waiting: (() => void)[] = [];
  readonly #listeners: (() => void)[] = [];

  /** @param tell hears of a node that has to be asked again */
  constructor(nodes: readonly string[], tell: (node: string) => void) {
    this.#nodes = new Set(nodes);
    this.#tell = tell;
  }

  /** Whether roles of an endpoint of this name are asked for. */
  knows(name: string): boolean {
    return this.#nodes.has(name);
  }

  of(name: string): NodeRole | undefined {
    return this.#roles[name];
  }

  get hasPrimary(): boolean {
    return primariesOf(this.#roles).length > 0;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  update(roles: Roles): void {
    this.#roles = roles;
    this.version++;
    for (const go of this.#waiting.splice(0)) go();
    for (const listener of this.#listeners) listener();
  }

  /** Only a node that counts as primary is worth it: another one is known to be none. */
  doubt(name: string): void {
    if (this.#roles[name] !== "primary") return;
    const { [name]: _, ...others } = this.#roles;
    this.#roles = others;
    this.version++;
    this.#tell(name);
  }

  /** Resolves at the next change, or after the time. */
  changed(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Ends every wait, at the end of a window. */
  release(): void {
    for (const go of this.#waiting.splice(0)) go();
  }
}
