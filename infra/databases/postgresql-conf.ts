/** PostgreSQL's configuration file and what runs on its node. Pure text. */
import { ensurePackages } from "../packages.ts";
import { AFTER_MESH, writeFile } from "../scripts.ts";

export interface PostgresConf {
  meshAddress: string;
  maxConnections: number;
}

/** A value as postgresql.conf quotes it: a single quote or backslash inside is doubled. */
const quoted = (value: string): string => `'${value.replace(/[\\']/g, (c) => c + c)}'`;

/** conf.d/99-meshbench.conf; what the user gives wins over what is only a default here. */
export function postgresConf(node: PostgresConf, variables: Record<string, string>): string {
  const settings = { max_connections: String(node.maxConnections), ...variables };
  return [
    // The mesh only; the socket is enough for the node itself.
    `listen_addresses = ${quoted(node.meshAddress)}`,
    "port = 5432",
    "password_encryption = 'scram-sha-256'",
    ...Object.entries(settings).map(([name, value]) => `${name} = ${quoted(value)}`),
    "",
  ].join("\n");
}

/** Sets `etc` to the configuration directory of the cluster main, and `unit` to its service. */
const CLUSTER = `version=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
etc=/etc/postgresql/$version/main; unit=postgresql@$version-main`;

/** Packages, a cluster called main, its configuration. Never restarts a server. */
export function configureScript(conf: string, access: { user: string; database: string; network: string }): string {
  const line = `host ${access.database} ${access.user} ${access.network} scram-sha-256`;
  return `changed=0
${ensurePackages(["postgresql"])}
${CLUSTER}
[ -d "$etc" ] || pg_createcluster "$version" main >&2
${writeFile("/etc/systemd/system/postgresql@.service.d/10-meshbench.conf", AFTER_MESH)}
[ "$changed" = 0 ] || systemctl daemon-reload
install -d -m 0755 "$etc/conf.d"
cat > "$etc/conf.d/99-meshbench.conf" <<'CONF'
${conf.trimEnd()}
CONF
grep -qxF '${line}' "$etc/pg_hba.conf" || echo '${line}' >> "$etc/pg_hba.conf"
systemctl enable --quiet postgresql "$unit"`;
}

/**
 * Starts the server, or restarts one that runs with another configuration than its files. `settings` names the
 * configuration, so that another one runs the step again.
 */
export function serverScript(settings: string, meshAddress: string, timeoutSeconds: number): string {
  return `# settings ${settings}
${CLUSTER}
fail() {
  why=$(tail -n 60 "/var/log/postgresql/postgresql-$version-main.log" 2>/dev/null | sed -n 's/^.* FATAL:  //p' | tail -n 1 || true)
  echo "$(hostname): $*\${why:+: $why}" >&2
  exit 1
}
now=$(cat "$etc/conf.d/99-meshbench.conf" "$etc/pg_hba.conf" | sha256sum | cut -c1-64)
state=/var/lib/postgresql/meshbench-conf
if [ "$(cat $state 2>/dev/null)" != "$now" ] || ! systemctl is-active --quiet "$unit"; then
  systemctl restart "$unit" 2>/dev/null || fail "postgresql did not start"
fi
echo "$now" > $state
deadline=$((SECONDS + ${timeoutSeconds}))
until pg_isready -q -h ${meshAddress} -p 5432; do
  [ $SECONDS -lt $deadline ] || fail "postgresql does not answer at ${meshAddress} within ${timeoutSeconds} s"
  sleep 0.2
done`;
}

/** Makes role and database (password on stdin, never in an argument), prints the facts as JSON. */
export function readyScript(access: { user: string; database: string }): string {
  return `read -r password
cd /
sql() { runuser -u postgres -- psql -X -q -v ON_ERROR_STOP=1 "$@"; }
sql <<SQL || { echo "$(hostname): could not create the load's account" >&2; exit 1; }
SELECT 'CREATE ROLE ${access.user} LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${access.user}') \\gexec
ALTER ROLE ${access.user} PASSWORD '$password';
GRANT pg_monitor TO ${access.user};
SELECT 'CREATE DATABASE ${access.database} OWNER ${access.user}' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '${access.database}') \\gexec
SQL
printf '{"version":"%s","clusterUuid":"%s","size":1}\\n' "$(sql -A -t -c 'SHOW server_version')" \\
  "$(sql -A -t -c 'SELECT system_identifier FROM pg_control_system()')"`;
}
