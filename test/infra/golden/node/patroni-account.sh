read -r password
sql() { (cd / && runuser -u postgres -- psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"); }
if [ "$(sql -c 'SELECT pg_is_in_recovery()')" = t ]; then exit 0; fi
sql <<SQL || { echo "$(hostname): could not create the load's account" >&2; exit 1; }
SELECT 'CREATE ROLE meshbench LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'meshbench') \gexec
ALTER ROLE meshbench PASSWORD '$password';
GRANT pg_monitor TO meshbench;
SELECT 'CREATE DATABASE sbtest OWNER meshbench' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'sbtest') \gexec
SQL
