missing=()
for package in wireguard-tools iproute2 iputils-ping iperf3; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt_get() { apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >/tmp/meshbench-apt.log 2>&1 || { tail -n 5 /tmp/meshbench-apt.log >&2; echo "$(hostname): apt-get could not install ${missing[*]}" >&2; exit 1; }; }
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
fi
if ! modprobe -q wireguard 2>/dev/null && [ ! -d /sys/module/wireguard ]; then
  missing=()
  for package in wireguard-go; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "installing ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt_get() { apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >/tmp/meshbench-apt.log 2>&1 || { tail -n 5 /tmp/meshbench-apt.log >&2; echo "$(hostname): apt-get could not install ${missing[*]}" >&2; exit 1; }; }
    apt_get update
    apt_get install -y --no-install-recommends "${missing[@]}"
  fi
fi
install -d -m 0700 /etc/wireguard
[ -s /etc/wireguard/private.key ] || (umask 077; wg genkey > /etc/wireguard/private.key)
wg pubkey < /etc/wireguard/private.key
