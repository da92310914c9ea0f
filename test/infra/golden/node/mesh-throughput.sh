flow() {
  out=$(timeout 20 iperf3 -c "$2" -n 4M $3 -f m 2>/dev/null | awk '/receiver/ { for (i = 1; i <= NF; i++) if ($i == "Mbits/sec") print $(i - 1) }' || true)
  echo "flow $1 $4 ${out:--}"
}
flow east-2 10.99.0.2 "" to; flow east-2 10.99.0.2 -R from
flow west-1 10.99.0.33 "" to; flow west-1 10.99.0.33 -R from
