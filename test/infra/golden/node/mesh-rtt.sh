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
probe() {
  out=$(ping -n -q -c 10 -i 0.1 -W 2 "$2" 2>&1 || true)
  loss=$(sed -n 's/.* \([0-9.]*\)% packet loss.*/\1/p' <<<"$out")
  rtt=$(sed -n 's|^rtt min/avg/max/mdev = \([0-9./]*\) ms.*|\1|p' <<<"$out")
  pmtu=$(widest "$2" 1420)
  echo "rtt $1 ${rtt:--} ${loss:-100} ${pmtu:--}"
}
probe east-2 10.99.0.2 &
probe west-1 10.99.0.33 &
wait
