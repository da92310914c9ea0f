widest() {
  local low=1279 high=$2 size took wait
  took=$(ping -n -q -c 1 -W 3 "$1" 2>/dev/null | sed -n 's|^rtt [^=]*= \([0-9]*\)\..*|\1|p')
  wait=$((1 + ${took:-0} * 2 / 1000))
  passes() { ping -n -q -M do -c 2 -i 0.2 -W $wait -s $(($2 - 28)) "$1" >/dev/null 2>&1; }
  size=$high
  while [ $low -lt $high ]; do
    if passes "$1" $size; then low=$size; else high=$((size - 1)); fi
    size=$(((low + high + 1) / 2))
  done
  if [ $low -ge 1280 ]; then echo $low; fi
}
deadline=$((SECONDS + 60))
called() { wg show wg0 dump | awk -v ip="$1/32" '$4 == ip && $5 > 0 { found = 1 } END { exit !found }'; }
reach() {
  if [ "$3" = waits ]; then for _ in $(seq 20); do called "$2" && break; sleep 0.1; done; fi
  until ping -n -q -c 1 -W 3 "$2" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { echo "east-1: no answer from $1 ($2) through the mesh within 60 s; is its UDP port open?" >&2; return 1; }
    sleep 0.2
  done
  size=$(widest "$2" 1420)
  [ -n "$size" ] || { echo "mesh: packets of 1280 bytes, the least that meshbench:mesh.mtu may be, do not pass between east-1 and $1; the path between them is too narrow" >&2; return 1; }
  [ "$size" -ge 1420 ] || { echo "meshbench:mesh.mtu: 1420; packets between east-1 and $1 pass up to $size bytes, expected at most $size, or auto" >&2; return 1; }
}
pids=()
reach east-2 10.99.0.2 begins & pids+=($!)
reach west-1 10.99.0.33 waits & pids+=($!)
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
exit $failed
