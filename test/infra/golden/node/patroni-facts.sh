sql() { (cd / && runuser -u postgres -- psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"); }
deadline=$((SECONDS + 120))
until [ "$(sql -c "SELECT COUNT(*) FROM pg_database WHERE datname = 'sbtest'" 2>/dev/null)" = 1 ]; do
  [ $SECONDS -lt $deadline ] || { echo "$(hostname): the load's database has not come here within 120 s" >&2; exit 1; }
  sleep 0.2
done
printf '{"version":"%s","clusterUuid":"%s","size":3}\n' "$(sql -c 'SHOW server_version')" \
  "$(sql -c 'SELECT system_identifier FROM pg_control_system()')"
