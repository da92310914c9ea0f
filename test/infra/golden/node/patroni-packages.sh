missing=$(for package in postgresql patroni python3-etcd etcd-server etcd-client curl; do dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"; done | paste -sd ' ')
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
for unit in postgresql $(systemctl list-units --all --plain --no-legend 'postgresql@*' | awk '{ print $1 }'); do
  if systemctl is-enabled --quiet "$unit" 2>/dev/null || systemctl is-active --quiet "$unit"; then systemctl disable --quiet --now "$unit"; fi
done
# The package's own: a member of this stack has a file that says how it began.
if [ ! -e /etc/default/meshbench-etcd ] && systemctl is-active --quiet etcd; then systemctl disable --quiet --now etcd; fi
