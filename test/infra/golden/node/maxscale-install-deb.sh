# The package would start a service of its own with the vendor's example configuration.
systemctl mask --quiet maxscale.service 2>/dev/null || true
changed=0
fail() { echo "$(hostname): $*" >&2; exit 1; }
missing=$(for package in curl; do dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"; done | paste -sd ' ')
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
if [ "$(dpkg-query -W -f='${Version}' maxscale 2>/dev/null)" != "$(dpkg-deb -f /opt/meshbench/maxscale-0123456789ab.deb Version)" ]; then
  needs=$(dpkg-deb -f /opt/meshbench/maxscale-0123456789ab.deb Depends | grep -oE 'libc6 \(>= [0-9.]+' | sed 's/.* //' | sort -V | tail -n 1 || true)
  has=$(dpkg-query -W -f='${Version}' libc6)
  [ -z "$needs" ] || dpkg --compare-versions "$has" ge "$needs" || fail "meshbench:proxy.archive: a package that needs glibc $needs; expected one built for Debian $(cut -d . -f 1 /etc/debian_version), which has ${has%%-*}"
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
  packages apt-get -q -o DPkg::Lock::Timeout=60 -o Acquire::Retries=3 install -y --no-install-recommends --allow-downgrades /opt/meshbench/maxscale-0123456789ab.deb || fail "the package of meshbench:proxy.archive could not be installed"
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
