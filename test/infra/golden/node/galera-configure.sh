changed=0
missing=$(for package in mariadb-server galera-4 rsync; do dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"; done | paste -sd ' ')
if [ -n "$missing" ]; then
  echo "installing $missing" >&2
  packages() {
    (
      log=$(mktemp /tmp/meshbench-apt.XXXXXX); trap 'rm -f "$log"' EXIT
      export DEBIAN_FRONTEND=noninteractive LC_ALL=C
      flock -w 900 9 || { echo "$(hostname): another step has been working with packages for over 900 s" >&2; exit 1; }
      deadline=$((SECONDS + 900)); told=0; mended=0
      until "$@" >"$log" 2>&1 9>&-; do
        if [ $SECONDS -lt $deadline ] && grep -qE 'Could not get lock|Unable to (lock|acquire)|is another process using it|(is|was) locked by another process' "$log"; then
          [ $told = 1 ] || echo "$(hostname): waiting for $(sed -nE 's/.*held by process ([0-9]+ \([^)]*\)).*/process \1/p' "$log" | head -n 1 | grep . || echo "somebody else's package work")" >&2
          told=1; sleep 2
        elif [ $mended = 0 ] && grep -qE 'dpkg was interrupted|dpkg --configure -a' "$log"; then
          mended=1; dpkg --configure -a >/dev/null 2>&1 9>&- || true
        else tail -n 5 "$log" >&2; exit 1; fi
      done
    ) 9>/run/lock/meshbench-packages
  }
  packages apt-get -q -o DPkg::Lock::Timeout=60 -o Acquire::Retries=3 update && packages apt-get -q -o DPkg::Lock::Timeout=60 -o Acquire::Retries=3 install -y --no-install-recommends $missing || { echo "$(hostname): apt-get could not install $missing" >&2; exit 1; }
fi
# Socket activation, which a chroot install enables, would hold the port that the server wants.
systemctl disable --quiet --now mariadb.socket mariadb-extra.socket 2>/dev/null || true
install -d -m 0755 "$(dirname '/etc/systemd/system/mariadb.service.d/10-meshbench.conf')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/mariadb.service.d/10-meshbench.conf'.new <<'END_OF_FILE'
[Unit]
After=wg-quick@wg0.service
Wants=wg-quick@wg0.service
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/mariadb.service.d/10-meshbench.conf'.new
if cmp -s '/etc/systemd/system/mariadb.service.d/10-meshbench.conf'.new '/etc/systemd/system/mariadb.service.d/10-meshbench.conf'; then rm -f '/etc/systemd/system/mariadb.service.d/10-meshbench.conf'.new; else mv -f '/etc/systemd/system/mariadb.service.d/10-meshbench.conf'.new '/etc/systemd/system/mariadb.service.d/10-meshbench.conf'; changed=1; fi
[ "$changed" = 0 ] || systemctl daemon-reload
install -d -m 0755 "$(dirname '/etc/mysql/mariadb.conf.d/99-meshbench.cnf')"
umask_was=$(umask); umask 077; cat > '/etc/mysql/mariadb.conf.d/99-meshbench.cnf'.new <<'END_OF_FILE'
[mysqld]
bind_address = 10.99.0.1
port = 3306
skip_name_resolve = ON
max_connections = 151
local_infile = ON
binlog_format = ROW
default_storage_engine = InnoDB
innodb_autoinc_lock_mode = 2
wsrep_on = ON
wsrep_provider = /usr/lib/galera/libgalera_smm.so
wsrep_cluster_name = "meshbench-test"
wsrep_cluster_address = "gcomm://10.99.0.1,10.99.0.2,10.99.0.33"
wsrep_node_name = "east-1"
wsrep_node_address = "10.99.0.1"
wsrep_sst_method = rsync
wsrep_provider_options = "gmcast.listen_addr=tcp://10.99.0.1:4567; ist.recv_bind=10.99.0.1:4568"
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/mysql/mariadb.conf.d/99-meshbench.cnf'.new
if cmp -s '/etc/mysql/mariadb.conf.d/99-meshbench.cnf'.new '/etc/mysql/mariadb.conf.d/99-meshbench.cnf'; then rm -f '/etc/mysql/mariadb.conf.d/99-meshbench.cnf'.new; else mv -f '/etc/mysql/mariadb.conf.d/99-meshbench.cnf'.new '/etc/mysql/mariadb.conf.d/99-meshbench.cnf'; changed=1; fi
systemctl enable --quiet mariadb
