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
stuck() {
  pgrep -f '[w]srep_sst_' >/dev/null && return 1
  if [ "$(status wsrep_local_state_comment)" = Donor/Desynced ] && [ "$(status wsrep_ready)" = OFF ]; then
    what="a state transfer ended while this donor was cut off from the primary component"
  elif [ "$(status wsrep_cluster_status)" = Disconnected ] && [ "$(status wsrep_connected)" = OFF ]; then
    what="the server left the cluster and goes on alone"
  else return 1; fi
}
deadline=$((SECONDS + 1800)); since=; restarts=0
until [ "$(status wsrep_local_state_comment)" = Synced ] && [ "$(status wsrep_ready)" = ON ]; do
  if systemctl is-failed --quiet mariadb; then fail "mariadb stopped while it was joining"; fi
  [ $SECONDS -lt $deadline ] || fail "not Synced within 1800 s, but '$(status wsrep_local_state_comment)' in a $(status wsrep_cluster_status) component of $(status wsrep_cluster_size)"
  if stuck; then
    since=${since:-$SECONDS}
    if [ $((SECONDS - since)) -ge 10 ]; then
      [ $restarts -lt 3 ] || fail "$what, also after $restarts restarts"
      restarts=$((restarts + 1))
      echo "$(hostname): $what; restarting it, which brings it back" >&2
      timeout 120 systemctl restart mariadb 2>/dev/null || fail "mariadb did not start again"
      since=
    fi
  else since=; fi
  sleep 0.2
done
