last_words() {
  local id; id=$(systemctl show --property=InvocationID --value "$1" 2>/dev/null || true)
  if [ -n "$id" ]; then journalctl "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id" -n "$2" --no-pager -o cat 2>/dev/null || true
  else journalctl -u "$1" -n "$2" --no-pager -o cat 2>/dev/null || true; fi
}
sql() { (cd / && runuser -u postgres -- psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"); }
systemctl enable --quiet patroni
systemctl reset-failed patroni 2>/dev/null || true
systemctl start patroni
answers() { curl -fs -m 3 -o /dev/null "http://10.99.0.1:8008/$1"; }
follows() { [ "$(sql -c "SELECT status = 'streaming' AND pg_last_wal_replay_lsn() >= latest_end_lsn FROM pg_stat_wal_receiver" 2>/dev/null)" = t ]; }
deadline=$((SECONDS + 1800))
until answers primary || { answers replica && follows; }; do
  [ $SECONDS -lt $deadline ] || { echo "$(hostname): neither primary nor a replica that follows within 1800 s" >&2; last_words patroni 5 >&2; exit 1; }
  sleep 0.5
done
