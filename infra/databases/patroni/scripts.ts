/** What runs on a node with Patroni, as pure text. */
import { ensurePackages } from "../../packages.ts";
import { LAST_WORDS, writeFile } from "../../scripts.ts";
import { CONF_PATH, ETCD_USER, PATRONI_DROP_IN, PATRONI_UNIT, REST_PORT, REST_USER, SECRETS_PATH } from "./conf.ts";

export const PACKAGES = ["postgresql", "patroni", "python3-etcd", "etcd-server", "etcd-client", "curl"];

/** Packages, without the servers that they bring along: Patroni makes its own, and etcd is founded over the mesh. */
export const PACKAGES_SCRIPT = `${ensurePackages(PACKAGES)}
for unit in postgresql $(systemctl list-units --all --plain --no-legend 'postgresql@*' | awk '{ print $1 }'); do
  if systemctl is-enabled --quiet "$unit" 2>/dev/null || systemctl is-active --quiet "$unit"; then systemctl disable --quiet --now "$unit"; fi
done
# The package's own: a member of this stack has a file that says how it began.
if [ ! -e /etc/default/meshbench-etcd ] && systemctl is-active --quiet etcd; then systemctl disable --quiet --now etcd; fi`;

/**
 * Configuration; a running Patroni takes it up without a restart. On stdin: the passwords for etcd, REST interface, replication
 * and pg_rewind.
 */
export function configureScript(conf: string): string {
  return `read -r etcd
read -r rest
read -r replication
read -r rewind
version=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
changed=0
${writeFile(PATRONI_DROP_IN, PATRONI_UNIT)}
[ "$changed" = 0 ] || systemctl daemon-reload
${writeFile(CONF_PATH, conf)}
umask 077
# Patroni 3.0.2 takes etcd's user from here only where something else of etcd is here too.
cat > ${SECRETS_PATH} <<SECRETS
PATRONI_ETCD3_PROTOCOL=http
PATRONI_ETCD3_USERNAME=${ETCD_USER}
PATRONI_ETCD3_PASSWORD=$etcd
PATRONI_RESTAPI_USERNAME=${REST_USER}
PATRONI_RESTAPI_PASSWORD=$rest
PATRONI_SUPERUSER_USERNAME=postgres
PATRONI_REPLICATION_USERNAME=replicator
PATRONI_REPLICATION_PASSWORD=$replication
PATRONI_REWIND_USERNAME=rewinder
PATRONI_REWIND_PASSWORD=$rewind
PATRONI_POSTGRESQL_BIN_DIR=/usr/lib/postgresql/$version/bin
PATRONI_POSTGRESQL_DATA_DIR=/var/lib/postgresql/$version/meshbench
SECRETS
if [ "$changed" = 1 ] && systemctl is-active --quiet patroni; then systemctl reload patroni; fi`;
}

const sql = `sql() { (cd / && runuser -u postgres -- psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"); }`;

/** Starts Patroni, and returns when its server is the primary, or a replica that has received and applied all. */
export function startScript(meshAddress: string, timeoutSeconds: number): string {
  return `${LAST_WORDS}
${sql}
systemctl enable --quiet patroni
systemctl reset-failed patroni 2>/dev/null || true
systemctl start patroni
answers() { curl -fs -m 3 -o /dev/null "http://${meshAddress}:${REST_PORT}/$1"; }
follows() { [ "$(sql -c "SELECT status = 'streaming' AND pg_last_wal_replay_lsn() >= latest_end_lsn FROM pg_stat_wal_receiver" 2>/dev/null)" = t ]; }
deadline=$((SECONDS + ${timeoutSeconds}))
until answers primary || { answers replica && follows; }; do
  [ $SECONDS -lt $deadline ] || { echo "$(hostname): neither primary nor a replica that follows within ${timeoutSeconds} s" >&2; last_words patroni 5 >&2; exit 1; }
  sleep 0.5
done`;
}

/**
 * Sets what all nodes share (the REST interface's password on stdin), then restarts servers that wait for it, one at a time:
 * replicas, the primary, and once more those that could not go below the primary's value before.
 */
export function settingsScript(
  addresses: string[],
  { dynamic, standbys, timeoutSeconds }: { dynamic: Record<string, unknown>; standbys: number; timeoutSeconds: number },
): string {
  return `read -r rest
export rest
python3 - <<'PY'
import base64, json, os, socket, sys, time, urllib.error, urllib.request

ADDRESSES = ${JSON.stringify(addresses)}
WANTED = json.loads(r'''${JSON.stringify(dynamic).replaceAll("'", "\\u0027")}''')
DEADLINE = time.monotonic() + ${timeoutSeconds}
LOGIN = "Basic " + base64.b64encode(("${REST_USER}:" + os.environ["rest"]).encode()).decode()

def fail(text):
    sys.exit(socket.gethostname() + ": " + text)

def call(address, path, method="GET", body=None, timeout=10):
    request = urllib.request.Request(
        "http://%s:${REST_PORT}/%s" % (address, path), method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": LOGIN, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)

def look():
    states = {}
    for address in ADDRESSES:
        code, text = call(address, "patroni")
        states[address] = json.loads(text) if text.startswith("{") else {}
    return states

def primary(state):
    return state.get("role") in ("master", "primary")

def settled():
    """All run, one is the primary, and it sees all the others follow."""
    while True:
        states = look()
        leaders = [a for a in ADDRESSES if primary(states[a])]
        running = all(states[a].get("state") == "running" for a in ADDRESSES)
        streams = [r for a in leaders for r in states[a].get("replication", []) if r.get("state") == "streaming"]
        sync = [r for r in streams if r.get("sync_state") == "sync"]
        if running and len(leaders) == 1 and len(streams) >= len(ADDRESSES) - 1 and len(sync) >= ${standbys}:
            return states, leaders[0]
        if time.monotonic() > DEADLINE:
            fail("not all of %d servers run with one primary%s: %s" % (len(ADDRESSES), ", ${standbys} of them synchronous" if ${standbys} else "",
                ", ".join("%s %s %s" % (a, states[a].get("role", "without an answer"), states[a].get("state", "")) for a in ADDRESSES)))
        time.sleep(0.5)

code, text = call(ADDRESSES[0], "config")
if code != 200:
    fail("Patroni does not say its settings: %s" % text)
now = json.loads(text)
if now != WANTED:
    code, text = call(ADDRESSES[0], "config", "PUT", WANTED)
    if code != 200:
        fail("Patroni does not take its settings: %s" % text)
    # Each node reads them in its next round.
    time.sleep(max(now.get("loop_wait", 10), WANTED["loop_wait"]) + 2)
for attempt in range(3):
    states, leader = settled()
    pending = [a for a in ADDRESSES if states[a].get("pending_restart")]
    if not pending:
        break
    for address in [a for a in pending if a != leader] + [a for a in pending if a == leader]:
        print("%s: restarting the server at %s with changed settings" % (socket.gethostname(), address), file=sys.stderr)
        code, text = call(address, "restart", "POST", {"restart_pending": True}, 300)
        if code not in (200, 503):
            fail("the server at %s was not restarted: %s" % (address, text))
        settled()
    time.sleep(WANTED["loop_wait"] + 1)
else:
    fail("settings still wait for a restart on %s" % ", ".join(pending))
PY`;
}

/** On each node: makes role and database of the load where it is the primary (password on stdin). */
export function accountScript({ user, database }: { user: string; database: string }): string {
  return `read -r password
${sql}
if [ "$(sql -c 'SELECT pg_is_in_recovery()')" = t ]; then exit 0; fi
sql <<SQL || { echo "$(hostname): could not create the load's account" >&2; exit 1; }
SELECT 'CREATE ROLE ${user} LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${user}') \\gexec
ALTER ROLE ${user} PASSWORD '$password';
GRANT pg_monitor TO ${user};
SELECT 'CREATE DATABASE ${database} OWNER ${user}' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '${database}') \\gexec
SQL`;
}

/** Prints the facts as JSON, when the load's database has come to this node. */
export function factsScript(database: string, size: number, timeoutSeconds: number): string {
  return `${sql}
deadline=$((SECONDS + ${timeoutSeconds}))
until [ "$(sql -c "SELECT COUNT(*) FROM pg_database WHERE datname = '${database}'" 2>/dev/null)" = 1 ]; do
  [ $SECONDS -lt $deadline ] || { echo "$(hostname): the load's database has not come here within ${timeoutSeconds} s" >&2; exit 1; }
  sleep 0.2
done
printf '{"version":"%s","clusterUuid":"%s","size":${size}}\\n' "$(sql -c 'SHOW server_version')" \\
  "$(sql -c 'SELECT system_identifier FROM pg_control_system()')"`;
}

/** What a node that stands is brought back to, at the beginning of each \`up\`: its units run, Patroni may still be at work. */
export const STANDING = `[ -e ${SECRETS_PATH} ] || exit 0
systemctl is-enabled --quiet patroni 2>/dev/null || exit 0
${LAST_WORDS}
address=$(sed -n 's/^  connect_address: \\(.*\\):${REST_PORT}$/\\1/p' ${CONF_PATH} | head -n 1)
for _ in $(seq 240); do if curl -fs -m 3 -o /dev/null "http://$address:${REST_PORT}/read-only"; then exit 0; fi; sleep 0.5; done
echo "$(hostname): Patroni's server is neither primary nor replica: $(last_words patroni 1)" >&2
exit 1`;
