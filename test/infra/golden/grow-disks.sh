grow() {
  local mount=$1 gib=$2 source type name disk part="" said code=0
  source=$(findmnt -n -f -o SOURCE --mountpoint "$mount"); source=${source%%\[*}; type=$(findmnt -n -f -o FSTYPE --mountpoint "$mount")
  case "$source" in /dev/*) ;; *) return 0 ;; esac
  name=$(basename "$(readlink -f "$source")"); disk=$name
  if [ -e "/sys/class/block/$name/partition" ]; then
    part=$(cat "/sys/class/block/$name/partition"); disk=$(basename "$(dirname "$(readlink -f "/sys/class/block/$name")")")
  elif [ -d "/sys/class/block/$name/dm" ]; then echo "$(hostname): $mount lies on $source, whose size is left as it is" >&2; return 0; fi
  for _ in $(seq 60); do
    [ ! -e "/sys/class/block/$disk/device/rescan" ] || echo 1 > "/sys/class/block/$disk/device/rescan" || true
    [ "$(blockdev --getsize64 "/dev/$disk")" -lt $((gib << 30)) ] || break
    sleep 1
  done
  [ "$(blockdev --getsize64 "/dev/$disk")" -ge $((gib << 30)) ] || { echo "$(hostname): /dev/$disk has $(($(blockdev --getsize64 "/dev/$disk") >> 30)) GiB, expected $gib; a restart of the node may show it" >&2; return 1; }
  if [ -n "$part" ]; then
    missing=$(for package in cloud-guest-utils; do dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"; done | paste -sd ' ')
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
    # It ends with 1 and this word where there is nothing to grow.
    said=$(growpart "/dev/$disk" "$part" 2>&1) || code=$?
    [ $code = 0 ] || case "$said" in *NOCHANGE*) ;; *) echo "$(hostname): growpart /dev/$disk $part: $said" >&2; return 1 ;; esac
  fi
  case "$type" in
    ext2|ext3|ext4) said=$(resize2fs "$source" 2>&1) || { echo "$(hostname): resize2fs $source: $said" >&2; return 1; } ;;
    xfs) said=$(xfs_growfs "$mount" 2>&1) || { echo "$(hostname): xfs_growfs $mount: $said" >&2; return 1; } ;;
    *) echo "$(hostname): $mount is a filesystem $type, which is left as it is" >&2 ;;
  esac
}
grow / 32
grow /srv/meshbench 100
