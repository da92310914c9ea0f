read -r password
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
role=$(cat /var/lib/mysql/meshbench-role 2>/dev/null || true)
writable() { mariadb -e "SET GLOBAL read_only = OFF"; }
start() {
  systemctl reset-failed mariadb 2>/dev/null || true
  timeout 120 systemctl restart mariadb 2>/dev/null || fail "mariadb did not start"
  deadline=$((SECONDS + 120))
  until answers; do [ $SECONDS -lt $deadline ] || fail "mariadb does not answer within 120 s"; sleep 0.2; done
  if [ "$role" = primary ]; then writable; fi
}
if [ -z "$role" ] || ! answers; then start; fi
if [ "$role" = replica ]; then exit 0; fi
mariadb <<SQL || fail "could not create the account of the replicas"
SET GLOBAL read_only = OFF;
CREATE USER IF NOT EXISTS 'replication'@'10.99.0.%' IDENTIFIED BY '$password';
ALTER USER 'replication'@'10.99.0.%' IDENTIFIED BY '$password';
GRANT REPLICATION SLAVE ON *.* TO 'replication'@'10.99.0.%';
SQL
echo primary > /var/lib/mysql/meshbench-role
