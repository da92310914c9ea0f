/** What is done to a host that is somebody else's, and how it is undone. Pure text. */
import { writeFile } from "../scripts.ts";
import { HOST_FACTS } from "./proxmox-storage.ts";

const STATE = "/var/lib/meshbench-host";

/** Units, files and directories that the project puts on a node. */
const UNITS = ["wg-quick@wg0", "haproxy", "maxscale", "mariadb", "meshbench-check.socket", "meshbench-iperf"];
const FILES = [
  "/etc/wireguard/wg0.conf",
  "/etc/wireguard/private.key",
  "/etc/mysql/mariadb.conf.d/99-meshbench.cnf",
  "/etc/systemd/system/mariadb.service.d/10-meshbench.conf",
  "/etc/haproxy/meshbench.cfg",
  "/etc/systemd/system/haproxy.service.d/10-meshbench.conf",
  "/etc/systemd/system/meshbench-*",
  "/usr/local/lib/meshbench",
  "/etc/meshbench",
  "/var/lib/meshbench",
  "/opt/meshbench",
];

/** Directories of packages that the project puts files in. */
const DIRECTORIES = [
  "/etc/systemd/system/mariadb.service.d",
  "/etc/systemd/system/haproxy.service.d",
  "/etc/wireguard",
];

/**
 * Written down once, before anything is changed: the packages that are there, what runs, and a copy of the database
 * directory. A host whose database or tunnel is in use is refused: it would be taken over.
 */
export function foundScript(): string {
  return `state=${STATE}
if [ ! -e "$state/found" ]; then
  refuse() { echo "$(hostname): $*; this host is left alone" >&2; exit 1; }
  [ "$(. /etc/os-release; echo "$ID $VERSION_ID")" = "debian 12" ] || refuse "runs $(. /etc/os-release; echo "$PRETTY_NAME"), and Debian 12 is needed"
  [ ! -e /etc/wireguard/wg0.conf ] || refuse "has a WireGuard interface wg0 of its own"
  shopt -s nullglob
  for directory in /var/lib/mysql/*/; do
    case "$(basename "$directory")" in mysql|performance_schema|sys|lost+found) ;; *) refuse "has a database of its own ($directory)" ;; esac
  done
  install -d -m 0700 "$state.new"
  dpkg-query -W -f '\${binary:Package} \${db:Status-Status}\\n' | awk '$2 == "installed" { print $1 }' | sort > "$state.new/packages"
  for unit in ${UNITS.join(" ")}; do
    echo "$unit $(systemctl is-enabled "$unit" 2>/dev/null | head -n 1) $(systemctl is-active "$unit" 2>/dev/null)"
  done > "$state.new/units"
  stat -c '%a %n' ${DIRECTORIES.join(" ")} > "$state.new/directories" 2>/dev/null || true
  if [ -d /var/lib/mysql ]; then
    systemctl stop mariadb 2>/dev/null || true
    tar -C /var/lib --one-file-system -czf "$state.new/mysql.tar.gz" mysql
  fi
  mv "$state.new" "$state"
  touch "$state/found"
fi
${writeFile(`${STATE}/leave`, leaveScript(), "0700")}
${HOST_FACTS}`;
}

/**
 * Leaves the host as it was found; every part may be done already. Kept on the host, so that a later version of the
 * project can leave too.
 */
export function leaveScript(): string {
  return `#!/bin/bash
set -u
state=${STATE}
[ -d "$state" ] || exit 0
for unit in $(systemctl list-units --all --plain --no-legend 'meshbench-*' | awk '{ print $1 }') haproxy maxscale mariadb wg-quick@wg0; do
  systemctl stop "$unit" 2>/dev/null
done
systemctl disable --quiet wg-quick@wg0 meshbench-check.socket 2>/dev/null
ip link delete wg0 2>/dev/null
rm -rf ${FILES.join(" ")}
for directory in ${DIRECTORIES.join(" ")}; do grep -q " $directory$" "$state/directories" || rmdir "$directory" 2>/dev/null; done
while read -r mode directory; do chmod "$mode" "$directory"; done < "$state/directories"
systemctl daemon-reload
systemctl reset-failed 2>/dev/null
# Packages that were not here before; those that others brought in since are not ours to remove.
new=$(dpkg-query -W -f '\${binary:Package} \${db:Status-Status}\\n' | awk '$2 == "installed" { print $1 }' | sort | comm -13 "$state/packages" - | grep -E '^(mariadb-|galera-|libmariadb|mysql-common|haproxy|maxscale|wireguard-|iperf3|libiperf|socat|rsync)' || true)
if [ -n "$new" ]; then DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 purge -y $new >/dev/null 2>&1 || echo "$(hostname): some packages could not be removed: $new" >&2; fi
if [ -e "$state/mysql.tar.gz" ]; then
  find /var/lib/mysql -mindepth 1 -xdev -delete
  tar -C /var/lib -xzf "$state/mysql.tar.gz"
elif mountpoint -q /var/lib/mysql; then find /var/lib/mysql -mindepth 1 -xdev -delete
else rm -rf /var/lib/mysql; fi
while read -r unit enabled active; do
  case "$enabled" in enabled) systemctl enable --quiet "$unit" ;; disabled) systemctl disable --quiet "$unit" ;; esac 2>/dev/null
  [ "$active" = active ] && systemctl start "$unit"
done < "$state/units"
rm -rf "$state"
exit 0
`;
}

/** The state's deletion; short, since an error prints the whole command. */
export const LEAVE_COMMAND = `[ ! -e ${STATE}/leave ] || bash ${STATE}/leave`;
