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
member() { sql "SELECT MEMBER_STATE FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid"; }
role() { sql "SELECT MEMBER_ROLE FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid AND MEMBER_STATE = 'ONLINE'"; }
online() { sql "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'"; }
# Begins a group with this member alone. The switch must not stay on: the next start would begin another group.
found() {
  local code=0
  mysql -e "SET GLOBAL group_replication_bootstrap_group = ON; START GROUP_REPLICATION" || code=$?
  mysql -e "SET GLOBAL group_replication_bootstrap_group = OFF"
  return $code
}
deadline=$((SECONDS + 120))
until answers; do
  if systemctl is-failed --quiet mysql; then fail "mysql does not start"; fi
  [ $SECONDS -lt $deadline ] || fail "mysql does not answer within 120 s"
  sleep 0.2
done
timeout 60 mysql -e "STOP GROUP_REPLICATION" 2>/dev/null || true
found || fail "the group could not be begun again"
deadline=$((SECONDS + 300)); tried=$SECONDS
until [ "$(member)" = ONLINE ]; do
  if systemctl is-failed --quiet mysql; then fail "mysql stopped while it was joining the group"; fi
  [ $SECONDS -lt $deadline ] || fail "not ONLINE in the group within 300 s, but '$(member)'"
  case "$(member)" in RECOVERING) ;; *)
    if answers && [ $((SECONDS - tried)) -ge 5 ]; then tried=$SECONDS; mysql -e "START GROUP_REPLICATION" 2>/dev/null || true; fi ;;
  esac
  sleep 0.3
done
