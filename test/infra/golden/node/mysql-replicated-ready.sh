[ "$(cat /var/lib/mysql/meshbench-role 2>/dev/null)" = primary ] || { echo "$(hostname): is not the primary any more; expected the primary as the first database node, or accounts made by hand" >&2; exit 1; }
clients() { mysql --connect-timeout=2 -N -B -e "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_clients'" 2>/dev/null | cut -f2; }
deadline=$((SECONDS + 120))
until [ "$(clients)" = 2 ]; do
  [ $SECONDS -lt $deadline ] || { echo "$(hostname): $(clients) of 2 replicas acknowledge commits after 120 s" >&2; exit 1; }
  sleep 0.2
done
sql() { mysql --connect-timeout=2 -N -B -e "$1" 2>/dev/null || true; }
last_words() {
  local id; id=$(systemctl show --property=InvocationID --value "$1" 2>/dev/null || true)
  if [ -n "$id" ]; then journalctl "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id" -n "$2" --no-pager -o cat 2>/dev/null || true
  else journalctl -u "$1" -n "$2" --no-pager -o cat 2>/dev/null || true; fi
}
answers() { mysql --connect-timeout=2 -N -B -e "SELECT 1" >/dev/null 2>&1; }
fail() {
  why=$(grep -h '\[ERROR\]' /var/log/mysql/error.log /var/lib/mysql/error.log 2>/dev/null | tail -n 1 | sed 's/^.*\[Server\] //;s/^.*\[Repl\] //' || true)
  echo "$(hostname): $*${why:+: $why}" >&2
  last_words mysql 15 >&2
  exit 1
}
read -r password
mysql <<SQL || fail "could not create the load's account"
CREATE DATABASE IF NOT EXISTS sbtest;
CREATE USER IF NOT EXISTS 'meshbench'@'10.99.0.%' IDENTIFIED BY '$password';
ALTER USER 'meshbench'@'10.99.0.%' IDENTIFIED BY '$password';
GRANT ALL ON sbtest.* TO 'meshbench'@'10.99.0.%';
GRANT PROCESS, RELOAD, REPLICATION CLIENT ON *.* TO 'meshbench'@'10.99.0.%';
GRANT SELECT ON performance_schema.* TO 'meshbench'@'10.99.0.%';
SQL
printf '{"version":"%s","clusterUuid":"%s","size":1}\n' "$(sql 'SELECT VERSION()')" "$(sql 'SELECT @@server_uuid')"
