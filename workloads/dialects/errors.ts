/** What the codes of the servers and of the system mean, by dialect. Numbers are MySQL's and MariaDB's, the rest SQLSTATEs. */

export interface ErrorClasses {
  /** Conflicts with other sessions, after which the same event can succeed at once. */
  readonly restart: ReadonlySet<string>;
  /** The session or the server is at its end. */
  readonly reconnect: ReadonlySet<string>;
  /** The server is gone or not in service, or a conflict ended the statement: it may be tried once more. */
  readonly transient: ReadonlySet<string>;
  readonly diskFull: ReadonlySet<string>;
  readonly loginRefused: ReadonlySet<string>;
  readonly tlsOnly: ReadonlySet<string>;
  readonly noDatabase: ReadonlySet<string>;
  readonly noRight: ReadonlySet<string>;
  readonly indexThere: ReadonlySet<string>;
  /** The node takes no writes: it is a replica, or has become one. */
  readonly readOnly: ReadonlySet<string>;
}

const codes = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const MYSQL_ERRORS: ErrorClasses = {
  // sysbench's --mysql-ignore-errors default: deadlock (and Galera's certification failure), record changed, lock wait
  // timeout. Beside them a duplicate key, which two sessions that delete and insert one id meet without transactions
  // (sysbench ends there, and restarts with 1062 on that list), and 1317, which is what a brute-force abort in Galera
  // can look like.
  restart: codes("1213 1020 1205 1062 1317"),
  // Shutdown, killed session, lost or aborted connection, server gone, malformed packets, session timeout.
  reconnect: codes("1053 1152 1158 1159 1160 1161 1927 2003 2006 2013 2055 4031 1835 1243"),
  // Deadlock, lock wait timeout, unknown command (Galera without a primary component), error during commit, server has
  // gone away, lost connection.
  transient: codes("1213 1205 1047 1180 2006 2013"),
  // Table full, disk full, error on write (1030 with the system's 28).
  diskFull: codes("1114 1021 1030 1026"),
  loginRefused: codes("1045"),
  tlsOnly: codes("3159"),
  noDatabase: codes("1049"),
  noRight: codes("1044"),
  indexThere: codes("1061"),
  // --read-only and --super-read-only; MySQL's read-only mode.
  readOnly: codes("1290 1836"),
};

/** Errors after which MySQL has no transaction open: 1213 rolls the whole transaction back. 1205 undoes one statement only
 * (innodb_rollback_on_timeout=OFF), so the half transaction has to be rolled back, or the restart's BEGIN would commit
 * it.
 */
export const MYSQL_ROLLED_BACK = codes("1213");

export const POSTGRES_ERRORS: ErrorClasses = {
  // sysbench's fixed list (serialization failure, deadlock, unique violation), and a lock timeout as on MySQL.
  restart: codes("40001 40P01 23505 55P03"),
  // Shutdown, crash, starting up, dropped database, idle session timeout, a prepared statement that the server does not
  // know. Class 08, connection exceptions, belongs to them too.
  reconnect: codes("57P01 57P02 57P03 57P04 57P05 26000"),
  // Serialization failure, deadlock, admin shutdown, crash shutdown, cannot connect now, connection failure.
  transient: codes("40001 40P01 57P01 57P02 57P03 08006 08003"),
  diskFull: codes("53100"),
  loginRefused: codes("28P01 28000"),
  tlsOnly: new Set(),
  noDatabase: codes("3D000"),
  noRight: codes("42501"),
  indexThere: codes("42P07"),
  readOnly: codes("25006"),
};

/** Of the system and of the client libraries. */
const CLIENT_TRANSIENT = codes(
  "ECONNRESET EPIPE ETIMEDOUT ECONNREFUSED EHOSTUNREACH ENETUNREACH PROTOCOL_CONNECTION_LOST PROTOCOL_SEQUENCE_TIMEOUT",
);

/** The dialects' codes do not overlap: a code is enough to know what it means. */
export function isError(kind: keyof ErrorClasses, code: string): boolean {
  if (MYSQL_ERRORS[kind].has(code) || POSTGRES_ERRORS[kind].has(code)) return true;
  return (kind === "transient" && CLIENT_TRANSIENT.has(code)) || (kind === "diskFull" && code === "ENOSPC");
}
