highest=0
far() {
  peer=$1
  rtt=$(ping -n -q -c 5 -i 0.2 -W 2 "$2" 2>/dev/null | sed -n 's|^rtt min/avg/max/mdev = [0-9.]*/\([0-9.]*\)/.*|\1|p' || true)
  [ -n "$rtt" ] || { echo "$(hostname): no answer from $1 over the mesh" >&2; exit 1; }
if awk "BEGIN { exit !(1 * $rtt > 100) }"; then echo "meshbench:database.etcd.heartbeatMs: 100; expected at least $(awk "BEGIN { print int(1 * $rtt) + 1 }"): the round trip from $(hostname) to $peer takes $rtt ms" >&2; exit 1; fi
if awk "BEGIN { exit !(10 * $rtt > 1500) }"; then echo "meshbench:database.etcd.electionMs: 1500; expected at least $(awk "BEGIN { print int(10 * $rtt) + 1 }"): the round trip from $(hostname) to $peer takes $rtt ms" >&2; exit 1; fi
  highest=$(awk "BEGIN { print ($rtt > $highest) ? $rtt : $highest }")
}
far west-1 10.99.0.33
echo "$highest"
