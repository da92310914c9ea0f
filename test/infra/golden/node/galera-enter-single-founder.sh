status() { mariadb --connect-timeout=2 -N -B -e "SHOW GLOBAL STATUS LIKE '$1'" 2>/dev/null | cut -f2 || true; }
last_words() {
  local id; id=$(systemctl show --property=InvocationID --value "$1" 2>/dev/null || true)
  if [ -n "$id" ]; then journalctl "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id" -n "$2" --no-pager -o cat 2>/dev/null || true
  else journalctl -u "$1" -n "$2" --no-pager -o cat 2>/dev/null || true; fi
}
answers() { mariadb --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
# The sentence first, with the server's own reason: it is what a summary shows.
fail() {
  why=$(last_words mariadb 60 | sed -n 's/^.*\[ERROR\] //p' | grep -v Aborting | tail -n 1 || true)
  echo "$(hostname): $*${why:+: $why}" >&2
  last_words mariadb 15 >&2
  exit 1
}
was_member() { ! grep -Eq '^safe_to_bootstrap: *1' /var/lib/mysql/grastate.dat 2>/dev/null && grep -Eq '^uuid: *[0-9a-f-]*[1-9a-f]' /var/lib/mysql/grastate.dat 2>/dev/null; }
peer_up() {
  for peer in ""; do
    [ -n "$peer" ] && timeout 2 bash -c "</dev/tcp/$peer/4567" 2>/dev/null && return 0
  done
  return 1
}
# A peer that is not started refuses as a firewall does that rejects: which one, nobody can tell from here.
refusing() {
  local peer said
  for peer in ""; do
    [ -n "$peer" ] && ping -n -q -c 2 -i 0.2 -W 3 "$peer" >/dev/null 2>&1 || continue
    said=$(LC_ALL=C timeout 3 bash -c "</dev/tcp/$peer/4567" 2>&1) || true
    if grep -q refused <<<"$said"; then
      printf '; TCP port 4567 of %s, which answers pings, refuses: no server runs there, or a firewall rejects it' "$peer"
    fi
  done
}
# A server that the package started by itself stands alone and is no member yet.
if answers && [ -z "$(status wsrep_cluster_state_uuid)" ]; then systemctl stop mariadb; fi
if ! systemctl is-active --quiet mariadb; then
  try_port() {
    local said code=0
    ping -n -q -c 2 -i 0.2 -W 3 "$1" >/dev/null 2>&1 || return 0
    said=$(LC_ALL=C timeout 8 bash -c "</dev/tcp/$1/$2" 2>&1) || code=$?
    if [ $code = 0 ] || grep -q refused <<<"$said"; then return 0; fi
    echo "database: $1 answers pings of $(hostname), but its TCP port $2 does not; Galera needs 4567, 4568, 4444 open between all database nodes (is there a firewall?)" >&2
    return 1
  }
  tries=()
  for peer in ; do
    for port in 4567 4568 4444; do try_port "$peer" "$port" & tries+=($!); done
  done
  for try in ${tries[@]+"${tries[@]}"}; do wait "$try" || exit 1; done
  systemctl reset-failed mariadb 2>/dev/null || true
  if ! was_member && ! peer_up; then
    echo "$(hostname): founding the cluster" >&2
    galera_new_cluster 2>/dev/null || fail "the first node did not start"
  else
    systemctl start --no-block mariadb
  fi
fi
sha256sum /etc/mysql/mariadb.conf.d/99-meshbench.cnf | cut -c1-64 > /var/lib/mysql/meshbench-conf
# The script that receives the state is started once the node is in; a server that answers had nothing to receive.
deadline=$((SECONDS + 300))
until answers || pgrep -f '[w]srep_sst_[a-z0-9]+ .*joiner' >/dev/null; do
  if systemctl is-failed --quiet mariadb; then fail "mariadb stopped while it was joining$(refusing)"; fi
  [ $SECONDS -lt $deadline ] || fail "not in the primary component within 300 s$(refusing)"
  sleep 0.1
done
