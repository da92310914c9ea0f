# settings abcdef0123456789
version=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
etc=/etc/postgresql/$version/main; unit=postgresql@$version-main
fail() {
  why=$(tail -n 60 "/var/log/postgresql/postgresql-$version-main.log" 2>/dev/null | sed -n 's/^.* FATAL:  //p' | tail -n 1 || true)
  echo "$(hostname): $*${why:+: $why}" >&2
  exit 1
}
now=$(cat "$etc/conf.d/99-meshbench.conf" "$etc/pg_hba.conf" | sha256sum | cut -c1-64)
state=/var/lib/postgresql/meshbench-conf
if [ "$(cat $state 2>/dev/null)" != "$now" ] || ! systemctl is-active --quiet "$unit"; then
  systemctl restart "$unit" 2>/dev/null || fail "postgresql did not start"
fi
echo "$now" > $state
deadline=$((SECONDS + 120))
until pg_isready -q -h 10.99.0.1 -p 5432; do
  [ $SECONDS -lt $deadline ] || fail "postgresql does not answer at 10.99.0.1 within 120 s"
  sleep 0.2
done
