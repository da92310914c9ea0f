# The package would start a service of its own with the vendor's example configuration.
systemctl mask --quiet maxscale.service 2>/dev/null || true
changed=0
fail() { echo "$(hostname): $*" >&2; exit 1; }
missing=()
for package in curl; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt_get() { apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >/tmp/meshbench-apt.log 2>&1 || { tail -n 5 /tmp/meshbench-apt.log >&2; echo "$(hostname): apt-get could not install ${missing[*]}" >&2; exit 1; }; }
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
fi
if [ "$(dpkg-query -W -f='${Version}' maxscale 2>/dev/null)" != "$(dpkg-deb -f /opt/meshbench/maxscale-0123456789ab.deb Version)" ]; then
  DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends --allow-downgrades /opt/meshbench/maxscale-0123456789ab.deb >&2 || fail "the package of meshbench:proxy.archive could not be installed"
fi
install -d -m 0755 "$(dirname '/usr/local/lib/meshbench/maxscale')"
umask_was=$(umask); umask 077; cat > '/usr/local/lib/meshbench/maxscale'.new <<'END_OF_FILE'
#!/bin/bash
exec /usr/bin/maxscale "$@"
END_OF_FILE
umask "$umask_was"; chmod 0755 '/usr/local/lib/meshbench/maxscale'.new
if cmp -s '/usr/local/lib/meshbench/maxscale'.new '/usr/local/lib/meshbench/maxscale'; then rm -f '/usr/local/lib/meshbench/maxscale'.new; else mv -f '/usr/local/lib/meshbench/maxscale'.new '/usr/local/lib/meshbench/maxscale'; changed=1; fi
getent passwd maxscale >/dev/null || useradd --system --user-group --no-create-home --home-dir /var/lib/maxscale --shell /usr/sbin/nologin maxscale
for dir in /var/lib/maxscale /var/cache/maxscale /var/log/maxscale /etc/maxscale.modules.d; do install -d -m 0750 -o maxscale -g maxscale "$dir"; done
installed=$(/usr/local/lib/meshbench/maxscale --version 2>&1 | sed -n 's/^MaxScale \([0-9.]*\).*/\1/p')
case "$installed" in
  24.02.*) ;;
  "") fail "the installed MaxScale does not start: $(/usr/local/lib/meshbench/maxscale --version 2>&1 | tail -n 1)" ;;
  *) fail "MaxScale $installed is installed, meshbench:proxy.version asks for 24.02.5" ;;
esac
