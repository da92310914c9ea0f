/** What runs on a node with MySQL, as pure text. */
import { LAST_WORDS } from "../../scripts.ts";
import { CONF_PATH, DATA } from "./facts.ts";

/**
 * \`sql\`: one value, or rows separated by tabs, as root over the socket; empty while the server does not answer. \`fail\` ends
 * the step with a sentence and the server's own reason.
 */
export const SQL = `sql() { mysql --connect-timeout=2 -N -B -e "$1" 2>/dev/null || true; }
${LAST_WORDS}
answers() { mysql --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
fail() {
  why=$(grep -h '\\[ERROR\\]' /var/log/mysql/error.log ${DATA}/error.log 2>/dev/null | tail -n 1 | sed 's/^.*\\[Server\\] //;s/^.*\\[Repl\\] //' || true)
  echo "$(hostname): $*\${why:+: $why}" >&2
  last_words mysql 15 >&2
  exit 1
}`;

/** Waits until the server answers; \`fail\` and \`answers\` must be defined. */
export const waitAnswers = (timeoutSeconds: number): string => `deadline=$((SECONDS + ${timeoutSeconds}))
until answers; do
  if systemctl is-failed --quiet mysql; then fail "mysql does not start"; fi
  [ $SECONDS -lt $deadline ] || fail "mysql does not answer within ${timeoutSeconds} s"
  sleep 0.2
done`;

/**
 * Starts a server that is down, or that runs by another file than its own: what the package started by itself, say. \`now\` has
 * to be the file's hash.
 */
export const startByFile = (timeoutSeconds: number): string =>
  `if [ "$(cat ${DATA}/meshbench-conf 2>/dev/null)" != "$now" ] || ! systemctl is-active --quiet mysql; then
  systemctl reset-failed mysql 2>/dev/null || true
  timeout ${timeoutSeconds} systemctl restart mysql 2>/dev/null || fail "mysql did not start"
fi
${waitAnswers(timeoutSeconds)}
echo "$now" > ${DATA}/meshbench-conf`;

/**
 * Starts a server, or restarts one that runs with another configuration than its file. \`settings\` names the configuration, so
 * that another one runs the step again.
 */
export function serverScript(settings: string, timeoutSeconds: number): string {
  return `# settings ${settings}
${SQL}
now=$(sha256sum ${CONF_PATH} | cut -c1-64)
${startByFile(timeoutSeconds)}`;
}

export interface Account {
  user: string;
  database: string;
  /** As MySQL writes a network: 10.99.0.% */
  network: string;
}

/** Database and user of the load; the password is in the shell's variable \`password\`. */
export function accountSql({ user, database, network }: Account): string {
  const account = `'${user}'@'${network}'`;
  return `CREATE DATABASE IF NOT EXISTS ${database};
CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '$password';
ALTER USER ${account} IDENTIFIED BY '$password';
GRANT ALL ON ${database}.* TO ${account};
GRANT PROCESS, RELOAD, REPLICATION CLIENT ON *.* TO ${account};
GRANT SELECT ON performance_schema.* TO ${account};`;
}

/** Makes database and user (password on stdin, never in an argument), prints the facts as JSON. */
export function readyScript(account: Account): string {
  return `${SQL}
read -r password
mysql <<SQL || fail "could not create the load's account"
${accountSql(account)}
SQL
printf '{"version":"%s","clusterUuid":"%s","size":1}\\n' "$(sql 'SELECT VERSION()')" "$(sql 'SELECT @@server_uuid')"`;
}
