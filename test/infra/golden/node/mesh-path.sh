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
path() { size=$(widest "$2" 1420); echo "path $1 ${size:--}"; }
path east-2 10.99.0.2 &
path west-1 10.99.0.33 &
wait
