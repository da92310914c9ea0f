/** What is done to a host that is somebody else's, and how it is undone. Pure text. */
import { PACKAGE_LOCK, QUIET_UNITS } from "../packages.ts";
import { writeFile } from "../scripts.ts";
import { HOST_FACTS } from "./proxmox/storage.ts";

const STATE = "/var/lib/meshbench-host";

/** Units, files and directories that the project puts on a node. */
const UNITS = ["wg-quick@wg0", "haproxy", "maxscale", "mariadb", "mysql", "meshbench-check.socket", "meshbench-iperf"];
const FILES = [
  "/etc/wireguard/wg0.conf",
  "/etc/wireguard/private.key",
  "/etc/mysql/mariadb.conf.d/99-meshbench.cnf",
  "/etc/systemd/system/mariadb.service.d/10-meshbench.conf",
  "/etc/mysql/mysql.conf.d/zz-meshbench.cnf",
  "/etc/systemd/system/mysql.service.d/10-meshbench.conf",
  "/etc/apt/sources.list.d/meshbench-mysql.list",
  "/etc/apt/keyrings/meshbench-mysql.gpg",
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
  "/etc/systemd/system/mysql.service.d",
  "/etc/systemd/system/haproxy.service.d",
  "/etc/wireguard",
];

/** Where Debian's MariaDB keeps its data: the one place that is looked at, copied, used and given back. */
const DATA = "/var/lib/mysql";

/**
 * Every directory that a database server of this host has its data in, or would have at its next start: the answer of
 * the servers that run, their command lines, what their option files come to, and their units. A state transfer
 * replaces what is in such a directory.
 */
const DATA_DIRECTORIES_FUNCTION = `data_directories() {
  for socket in $(awk '$NF ~ /^\\/.*sock$/ { print $NF }' /proc/net/unix | sort -u); do
    for client in mariadb mysql; do
      command -v $client >/dev/null 2>&1 || continue
      case "$socket" in *mysql*|*maria*) timeout 5 $client --socket="$socket" --connect-timeout=2 -N -B -e 'SELECT @@datadir' 2>/dev/null && break ;; esac
    done
  done
  for process in $(pgrep -x 'mariadbd|mysqld' || true); do tr '\\0' '\\n' < "/proc/$process/cmdline" 2>/dev/null | sed -n 's/^--datadir=//p'; done
  for server in mariadbd mysqld; do
    binary=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v $server) || continue
    timeout 20 "$binary" --no-defaults --version >/dev/null 2>&1 || continue
    timeout 20 "$binary" --verbose --help 2>/dev/null | awk '$1 ~ /^(datadir|innodb-data-home-dir|innodb-log-group-home-dir|innodb-undo-directory)$/ && $2 ~ /^\\// { print $2 }'
  done
  systemctl cat mariadb mysql mysqld 2>/dev/null | sed -nE 's/^Exec.*--datadir[= ]([^ ]+).*/\\1/p'
}`;

/**
 * Written down once, before anything is changed: the packages that are there, what runs, and a copy of the database
 * directory. A host whose database or tunnel is in use is refused: it would be taken over. So is one whose data lies
 * anywhere else than where it would be looked for.
 */
export function foundScript(): string {
  return `state=${STATE}
if [ ! -e "$state/found" ]; then
  refuse() { echo "$(hostname): $*; this host is left alone" >&2; exit 1; }
  case "$(. /etc/os-release; echo "$ID $VERSION_ID")" in "debian 12"|"debian 13") ;; *) refuse "runs $(. /etc/os-release; echo "$PRETTY_NAME"), and Debian 12 or 13 is needed" ;; esac
  [ ! -e /etc/wireguard/wg0.conf ] || refuse "has a WireGuard interface wg0 of its own"
  ${DATA_DIRECTORIES_FUNCTION.replaceAll("\n", "\n  ")}
  shopt -s nullglob
  while read -r directory; do
    [ "$(readlink -m "$directory")" = ${DATA} ] || refuse "keeps its database in $directory, and only ${DATA} could be given back as it was"
  done < <(echo ${DATA}; data_directories)
  for directory in ${DATA}/*/; do
    case "$(basename "$directory")" in mysql|performance_schema|sys|lost+found) ;; *) refuse "has a database of its own ($directory)" ;; esac
  done
  install -d -m 0700 "$state.new"
  dpkg-query -W -f '\${binary:Package} \${db:Status-Status}\\n' | awk '$2 == "installed" { print $1 }' | sort > "$state.new/packages"
  for unit in ${[...UNITS, ...QUIET_UNITS].join(" ")}; do
    echo "$unit $(systemctl is-enabled "$unit" 2>/dev/null | head -n 1) $(systemctl is-active "$unit" 2>/dev/null)"
  done > "$state.new/units"
  stat -c '%a %n' ${DIRECTORIES.join(" ")} > "$state.new/directories" 2>/dev/null || true
  if [ -d /var/lib/mysql ]; then
    systemctl stop mariadb mysql 2>/dev/null || true
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
for unit in $(systemctl list-units --all --plain --no-legend 'meshbench-*' | awk '{ print $1 }') haproxy maxscale mariadb mysql wg-quick@wg0; do
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
new=$(dpkg-query -W -f '\${binary:Package} \${db:Status-Status}\\n' | awk '$2 == "installed" { print $1 }' | sort | comm -13 "$state/packages" - | grep -E '^(mariadb-|galera-|libmariadb|mysql-|haproxy|maxscale|wireguard-|iperf3|libiperf|socat|rsync)' || true)
if [ -n "$new" ]; then DEBIAN_FRONTEND=noninteractive flock -w 900 ${PACKAGE_LOCK} apt-get -q -o DPkg::Lock::Timeout=300 purge -y $new >/dev/null 2>&1 || echo "$(hostname): some packages could not be removed: $new" >&2; fi
if [ -e "$state/mysql.tar.gz" ]; then
  find /var/lib/mysql -mindepth 1 -xdev -delete
  tar -C /var/lib -xzf "$state/mysql.tar.gz"
elif mountpoint -q /var/lib/mysql; then find /var/lib/mysql -mindepth 1 -xdev -delete
else rm -rf /var/lib/mysql; fi
# Jobs of the distribution's own; those that were masked before stay so.
for unit in ${QUIET_UNITS.join(" ")}; do grep -q "^$unit masked" "$state/units" || systemctl unmask --quiet "$unit" 2>/dev/null; done
while read -r unit enabled active; do
  case "$enabled" in enabled) systemctl enable --quiet "$unit" ;; disabled) systemctl disable --quiet "$unit" ;; esac 2>/dev/null
  [ "$active" = active ] && systemctl start "$unit"
done < "$state/units"
rm -rf "$state"
exit 0
`;
}

/** The state's deletion; short, since an error prints the whole command. */
export const LEAVE_COMMAND = `if [ -e ${STATE}/leave ]; then bash ${STATE}/leave; fi`;
