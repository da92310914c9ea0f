deadline=$((SECONDS + 60))
called() { wg show wg0 dump | awk -v ip="$1/32" '$4 == ip && $5 > 0 { found = 1 } END { exit !found }'; }
reach() {
  if [ "$3" = waits ]; then for _ in $(seq 20); do called "$2" && break; sleep 0.1; done; fi
  until ping -n -q -c 1 -W 1 "$2" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { echo "$(hostname): no answer from $1 ($2) through the mesh within 60 s; is its UDP port open?" >&2; return 1; }
    sleep 0.2
  done
}
pids=()
reach east-2 10.99.0.2 begins & pids+=($!)
reach west-1 10.99.0.33 waits & pids+=($!)
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
exit $failed
