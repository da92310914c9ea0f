loud=$(systemctl list-unit-files --no-legend --plain apt-daily.timer apt-daily-upgrade.timer apt-daily.service apt-daily-upgrade.service unattended-upgrades.service man-db.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer 2>/dev/null | awk '$2 != "masked" { print $1 }' || true)
if [ -n "$loud" ]; then systemctl mask --quiet $loud; systemctl stop --no-block $loud 2>/dev/null || true; fi
missing=$(for package in wireguard-tools iproute2 iputils-ping iperf3; do dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"; done | paste -sd ' ')
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
if ! modprobe -q wireguard 2>/dev/null && [ ! -d /sys/module/wireguard ]; then
  missing=$(for package in wireguard-go; do dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"; done | paste -sd ' ')
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
fi
install -d -m 0700 /etc/wireguard
[ -s /etc/wireguard/private.key ] || (umask 077; wg genkey > /etc/wireguard/private.key)
wg pubkey < /etc/wireguard/private.key
