# settings 0123456789abcdef
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
now=$(sha256sum /etc/mysql/mysql.conf.d/zz-meshbench.cnf | cut -c1-64)
if [ "$(cat /var/lib/mysql/meshbench-conf 2>/dev/null)" != "$now" ] || ! systemctl is-active --quiet mysql; then
  systemctl reset-failed mysql 2>/dev/null || true
  timeout 120 systemctl restart mysql 2>/dev/null || fail "mysql did not start"
fi
deadline=$((SECONDS + 120))
until answers; do
  if systemctl is-failed --quiet mysql; then fail "mysql does not start"; fi
  [ $SECONDS -lt $deadline ] || fail "mysql does not answer within 120 s"
  sleep 0.2
done
echo "$now" > /var/lib/mysql/meshbench-conf
