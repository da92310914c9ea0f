changed=0
missing=()
for package in postgresql; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt_get() { apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >/tmp/meshbench-apt.log 2>&1 || { tail -n 5 /tmp/meshbench-apt.log >&2; echo "$(hostname): apt-get could not install ${missing[*]}" >&2; exit 1; }; }
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
fi
version=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
etc=/etc/postgresql/$version/main; unit=postgresql@$version-main
[ -d "$etc" ] || pg_createcluster "$version" main >&2
install -d -m 0755 "$(dirname '/etc/systemd/system/postgresql@.service.d/10-meshbench.conf')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/postgresql@.service.d/10-meshbench.conf'.new <<'END_OF_FILE'
[Unit]
After=wg-quick@wg0.service
Wants=wg-quick@wg0.service
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/postgresql@.service.d/10-meshbench.conf'.new
if cmp -s '/etc/systemd/system/postgresql@.service.d/10-meshbench.conf'.new '/etc/systemd/system/postgresql@.service.d/10-meshbench.conf'; then rm -f '/etc/systemd/system/postgresql@.service.d/10-meshbench.conf'.new; else mv -f '/etc/systemd/system/postgresql@.service.d/10-meshbench.conf'.new '/etc/systemd/system/postgresql@.service.d/10-meshbench.conf'; changed=1; fi
[ "$changed" = 0 ] || systemctl daemon-reload
install -d -m 0755 "$etc/conf.d"
cat > "$etc/conf.d/99-meshbench.conf" <<'CONF'
listen_addresses = '10.99.0.1'
port = 5432
password_encryption = 'scram-sha-256'
max_connections = '100'
shared_buffers = '256MB'
application_name = 'it''s'
CONF
grep -qxF 'host sbtest meshbench 10.99.0.0/24 scram-sha-256' "$etc/pg_hba.conf" || echo 'host sbtest meshbench 10.99.0.0/24 scram-sha-256' >> "$etc/pg_hba.conf"
systemctl enable --quiet postgresql "$unit"
