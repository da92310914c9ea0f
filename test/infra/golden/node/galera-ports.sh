try_port() {
  local said code=0
  ping -n -q -c 2 -i 0.2 -W 3 "$1" >/dev/null 2>&1 || return 0
  said=$(LC_ALL=C timeout 8 bash -c "</dev/tcp/$1/$2" 2>&1) || code=$?
  if [ $code = 0 ] || grep -q refused <<<"$said"; then return 0; fi
  echo "database: $1 answers pings of $(hostname), but its TCP port $2 does not; Galera needs 4567, 4568, 4444 open between all database nodes (is there a firewall?)" >&2
  return 1
}
tries=()
for peer in 10.99.0.2 10.99.0.33; do
  for port in 4567 4568 4444; do try_port "$peer" "$port" & tries+=($!); done
done
for try in ${tries[@]+"${tries[@]}"}; do wait "$try" || exit 1; done
