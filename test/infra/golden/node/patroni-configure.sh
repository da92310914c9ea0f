read -r etcd
read -r rest
read -r replication
read -r rewind
version=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
changed=0
install -d -m 0755 "$(dirname '/etc/systemd/system/patroni.service.d/10-meshbench.conf')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/patroni.service.d/10-meshbench.conf'.new <<'END_OF_FILE'
[Unit]
After=wg-quick@wg0.service etcd.service
Wants=wg-quick@wg0.service
StartLimitIntervalSec=0

[Service]
EnvironmentFile=/etc/patroni/meshbench.env
KillMode=mixed
TimeoutStopSec=120
Restart=always
RestartSec=1
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/patroni.service.d/10-meshbench.conf'.new
if cmp -s '/etc/systemd/system/patroni.service.d/10-meshbench.conf'.new '/etc/systemd/system/patroni.service.d/10-meshbench.conf'; then rm -f '/etc/systemd/system/patroni.service.d/10-meshbench.conf'.new; else mv -f '/etc/systemd/system/patroni.service.d/10-meshbench.conf'.new '/etc/systemd/system/patroni.service.d/10-meshbench.conf'; changed=1; fi
[ "$changed" = 0 ] || systemctl daemon-reload
install -d -m 0755 "$(dirname '/etc/patroni/config.yml')"
umask_was=$(umask); umask 077; cat > '/etc/patroni/config.yml'.new <<'END_OF_FILE'
scope: meshbench
namespace: /service/
name: east-1
restapi:
  listen: 10.99.0.1:8008
  connect_address: 10.99.0.1:8008
etcd3:
  hosts:
    - 10.99.0.1:2379
    - 10.99.0.33:2379
    - 10.99.0.2:2379
bootstrap:
  dcs:
    ttl: 30
    loop_wait: 10
    retry_timeout: 10
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        max_connections: "100"
  initdb:
    - encoding: UTF8
    - locale: C.UTF-8
    - auth-local: peer
    - auth-host: scram-sha-256
postgresql:
  listen: 10.99.0.1:5432
  connect_address: 10.99.0.1:5432
  pgpass: /var/lib/postgresql/.meshbench-pgpass
  use_unix_socket: true
  authentication:
    superuser:
      username: postgres
    replication:
      username: replicator
    rewind:
      username: rewinder
  parameters:
    unix_socket_directories: /var/run/postgresql
    password_encryption: scram-sha-256
  pg_hba:
    - local all postgres peer
    - host replication replicator 10.99.0.0/24 scram-sha-256
    - host postgres rewinder 10.99.0.0/24 scram-sha-256
    - host sbtest meshbench 10.99.0.0/24 scram-sha-256
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/patroni/config.yml'.new
if cmp -s '/etc/patroni/config.yml'.new '/etc/patroni/config.yml'; then rm -f '/etc/patroni/config.yml'.new; else mv -f '/etc/patroni/config.yml'.new '/etc/patroni/config.yml'; changed=1; fi
umask 077
# Patroni 3.0.2 takes etcd's user from here only where something else of etcd is here too.
cat > /etc/patroni/meshbench.env <<SECRETS
PATRONI_ETCD3_PROTOCOL=http
PATRONI_ETCD3_USERNAME=patroni
PATRONI_ETCD3_PASSWORD=$etcd
PATRONI_RESTAPI_USERNAME=meshbench
PATRONI_RESTAPI_PASSWORD=$rest
PATRONI_SUPERUSER_USERNAME=postgres
PATRONI_REPLICATION_USERNAME=replicator
PATRONI_REPLICATION_PASSWORD=$replication
PATRONI_REWIND_USERNAME=rewinder
PATRONI_REWIND_PASSWORD=$rewind
PATRONI_POSTGRESQL_BIN_DIR=/usr/lib/postgresql/$version/bin
PATRONI_POSTGRESQL_DATA_DIR=/var/lib/postgresql/$version/meshbench
SECRETS
if [ "$changed" = 1 ] && systemctl is-active --quiet patroni; then systemctl reload patroni; fi
