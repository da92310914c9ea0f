probe() {
  out=$(ping -n -q -c 10 -i 0.1 -W 2 "$2" 2>&1 || true)
  loss=$(sed -n 's/.* \([0-9.]*\)% packet loss.*/\1/p' <<<"$out")
  rtt=$(sed -n 's|^rtt min/avg/max/mdev = \([0-9./]*\) ms.*|\1|p' <<<"$out")
  pmtu=
  for size in 1420 1412 1400 1380 1280; do
    if ping -n -q -M do -c 1 -W 2 -s $((size - 28)) "$2" >/dev/null 2>&1; then pmtu=$size; break; fi
  done
  echo "rtt $1 ${rtt:--} ${loss:-100} ${pmtu:--}"
}
probe east-2 10.99.0.2 &
probe west-1 10.99.0.33 &
wait
