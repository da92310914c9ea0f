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
read -r password

mariadb <<SQL || fail "could not create the load's account"
CREATE DATABASE IF NOT EXISTS sbtest;
CREATE USER IF NOT EXISTS 'meshbench'@'10.99.0.%' IDENTIFIED BY '$password';
ALTER USER 'meshbench'@'10.99.0.%' IDENTIFIED BY '$password';
GRANT ALL ON sbtest.* TO 'meshbench'@'10.99.0.%';
GRANT PROCESS, RELOAD, REPLICATION CLIENT ON *.* TO 'meshbench'@'10.99.0.%';
SQL
printf '{"version":"%s","provider":"%s","clusterUuid":"%s","size":%s}\n' \
  "$(mariadb -N -B -e 'SELECT VERSION()')" "$(status wsrep_provider_version)" "$(status wsrep_cluster_state_uuid)" "$(status wsrep_cluster_size | grep . || echo 1)"
