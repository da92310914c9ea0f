/** The connections that a session holds: one, or one for reading and one for writing. */
import type { Connection, Statement } from "../../drivers/driver.ts";

export interface Link {
  /** Distinct connections. */
  readonly connections: Connection[];
  /** Statements by table * templates + template; reads may come from another connection than writes. */
  readonly statements: Statement[];
  /** Where BEGIN, COMMIT, ROLLBACK and text go. */
  readonly main: Connection;
  readonly begin: Statement | null;
  readonly commit: Statement | null;
  /** From each operation on, how many are sent together (together.ts); null: each alone. */
  readonly together: Uint16Array | null;
  /** The connection that a template's kind runs on, for sampling. */
  reader: Connection;
  /** Of the knowledge of the nodes' roles by which its endpoints were found right. */
  rolesVersion: number;
}
