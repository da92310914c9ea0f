# The package would start a service of its own with the vendor's example configuration.
systemctl mask --quiet maxscale.service 2>/dev/null || true
changed=0
fail() { echo "$(hostname): $*" >&2; exit 1; }
missing=()
for package in curl ca-certificates; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt_get() { apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >/tmp/meshbench-apt.log 2>&1 || { tail -n 5 /tmp/meshbench-apt.log >&2; echo "$(hostname): apt-get could not install ${missing[*]}" >&2; exit 1; }; }
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
fi
if ! dpkg-query -W -f='${Version}' maxscale 2>/dev/null | grep -q '^24\.02\.5'; then
  setup=$(mktemp); trap 'rm -f "$setup"' EXIT
  curl -fsSL --retry 3 --connect-timeout 10 --max-time 60 -o "$setup" https://r.mariadb.com/downloads/mariadb_repo_setup || fail "the vendor's package source cannot be reached; give MaxScale as meshbench:proxy.archive"
  missing=()
  for package in gnupg apt-transport-https; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "installing ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt_get() { apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >/tmp/meshbench-apt.log 2>&1 || { tail -n 5 /tmp/meshbench-apt.log >&2; echo "$(hostname): apt-get could not install ${missing[*]}" >&2; exit 1; }; }
    apt_get update
    apt_get install -y --no-install-recommends "${missing[@]}"
  fi
  bash "$setup" --mariadb-maxscale-version=24.02.5 --skip-server --skip-tools >&2
  DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 install -y --allow-downgrades 'maxscale=24.02.5*' >&2 || fail "MaxScale 24.02.5 is not in the vendor's package source"
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
  24.02.5) ;;
  "") fail "the installed MaxScale does not start: $(/usr/local/lib/meshbench/maxscale --version 2>&1 | tail -n 1)" ;;
  *) fail "MaxScale $installed is installed, meshbench:proxy.version asks for 24.02.5" ;;
esac
