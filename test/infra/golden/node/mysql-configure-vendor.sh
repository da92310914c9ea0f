changed=0
fail() { echo "$(hostname): $*" >&2; exit 1; }
if ! dpkg-query -W -f='${Version}' mysql-community-server 2>/dev/null | grep -q '^8\.4\.6-'; then
  missing=$(for package in curl gnupg ca-certificates; do dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"; done | paste -sd ' ')
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
  key=$(mktemp); trap 'rm -f "$key"' EXIT
  curl -fsSL --retry 3 --connect-timeout 10 --max-time 60 -o "$key" https://repo.mysql.com/RPM-GPG-KEY-mysql-2023 || fail "the vendor's package source cannot be reached"
  gpg --batch --show-keys --with-colons "$key" 2>/dev/null | grep -q '^fpr:*BCA43417C3B485DD128EC6D4B7B3B788A8D3785C:$' || fail "the key of the vendor's package source is not the one that is expected (BCA43417C3B485DD128EC6D4B7B3B788A8D3785C)"
  install -d -m 0755 "$(dirname /etc/apt/keyrings/meshbench-mysql.gpg)"
  gpg --batch --yes --dearmor -o /etc/apt/keyrings/meshbench-mysql.gpg "$key"
  release=$(. /etc/os-release; echo "$VERSION_CODENAME")
  echo "deb [signed-by=/etc/apt/keyrings/meshbench-mysql.gpg] https://repo.mysql.com/apt/debian/ $release mysql-8.4-lts" > /etc/apt/sources.list.d/meshbench-mysql.list
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
  packages apt-get -q update || fail "the vendor's package source for MySQL 8.4.6 cannot be read"
  exact=$(apt-cache madison mysql-community-server | awk '{ print $3 }' | grep '^8\.4\.6-' | head -n 1)
  [ -n "$exact" ] || fail "meshbench:database.version: 8.4.6; expected one that the vendor's repository has for Debian $release: $(apt-cache madison mysql-community-server | awk '{ print $3 }' | paste -sd ' ')"
  packages apt-get -q -o DPkg::Lock::Timeout=60 -o Acquire::Retries=3 install -y --no-install-recommends --allow-downgrades mysql-community-server="$exact" mysql-community-server-core="$exact" mysql-community-client="$exact" mysql-community-client-core="$exact" || fail "MySQL 8.4.6 could not be installed from the vendor's package source"
fi
install -d -m 0755 "$(dirname '/etc/systemd/system/mysql.service.d/10-meshbench.conf')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/mysql.service.d/10-meshbench.conf'.new <<'END_OF_FILE'
[Unit]
After=wg-quick@wg0.service
Wants=wg-quick@wg0.service
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/mysql.service.d/10-meshbench.conf'.new
if cmp -s '/etc/systemd/system/mysql.service.d/10-meshbench.conf'.new '/etc/systemd/system/mysql.service.d/10-meshbench.conf'; then rm -f '/etc/systemd/system/mysql.service.d/10-meshbench.conf'.new; else mv -f '/etc/systemd/system/mysql.service.d/10-meshbench.conf'.new '/etc/systemd/system/mysql.service.d/10-meshbench.conf'; changed=1; fi
[ "$changed" = 0 ] || systemctl daemon-reload
install -d -m 0755 "$(dirname '/etc/mysql/mysql.conf.d/zz-meshbench.cnf')"
umask_was=$(umask); umask 077; cat > '/etc/mysql/mysql.conf.d/zz-meshbench.cnf'.new <<'END_OF_FILE'
[mysqld]
bind_address = 10.99.0.1
port = 3306
mysqlx = OFF
skip_name_resolve = ON
max_connections = 151
local_infile = ON
innodb_buffer_pool_size = 256M
init_connect = "SET @a = '#'"
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/mysql/mysql.conf.d/zz-meshbench.cnf'.new
if cmp -s '/etc/mysql/mysql.conf.d/zz-meshbench.cnf'.new '/etc/mysql/mysql.conf.d/zz-meshbench.cnf'; then rm -f '/etc/mysql/mysql.conf.d/zz-meshbench.cnf'.new; else mv -f '/etc/mysql/mysql.conf.d/zz-meshbench.cnf'.new '/etc/mysql/mysql.conf.d/zz-meshbench.cnf'; changed=1; fi
systemctl enable --quiet mysql
