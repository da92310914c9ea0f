read -r password
cd /
sql() { runuser -u postgres -- psql -X -q -v ON_ERROR_STOP=1 "$@"; }
sql <<SQL || { echo "$(hostname): could not create the load's account" >&2; exit 1; }
SELECT 'CREATE ROLE meshbench LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'meshbench') \gexec
ALTER ROLE meshbench PASSWORD '$password';
GRANT pg_monitor TO meshbench;
SELECT 'CREATE DATABASE sbtest OWNER meshbench' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'sbtest') \gexec
SQL
printf '{"version":"%s","clusterUuid":"%s","size":1}\n' "$(sql -A -t -c 'SHOW server_version')" \
  "$(sql -A -t -c 'SELECT system_identifier FROM pg_control_system()')"
