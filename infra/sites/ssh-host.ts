/** What is done to a host that is somebody else's, and how it is undone. Pure text. */
import { basename, dirname } from "node:path";
import type { DatabaseHost } from "../databases/engine.ts";
import type { Installed } from "../installed.ts";
import { PACKAGE_LOCK, QUIET_UNITS } from "../packages.ts";
import { writeFile } from "../scripts.ts";
import { hostFacts } from "./proxmox/storage.ts";

const STATE = "/var/lib/meshbench-host";

/** All that can come to a host, of whichever engine and proxy. */
export interface Hosts {
  databases: readonly DatabaseHost[];
  others: readonly Installed[];
}

/** What comes with the mesh and the load. */
const MESH: Installed = {
  units: ["wg-quick@wg0", "meshbench-check.socket", "meshbench-iperf"],
  packages: ["wireguard-", "iperf3", "libiperf", "rsync"],
  files: [
    "/etc/wireguard/wg0.conf",
    "/etc/wireguard/private.key",
    "/etc/systemd/system/meshbench-*",
    "/usr/local/lib/meshbench",
    "/etc/meshbench",
    "/var/lib/meshbench",
    "/opt/meshbench",
  ],
  directories: ["/etc/wireguard"],
};

const all = ({ databases, others }: Hosts, what: keyof Installed): string[] => [
  ...new Set([...databases, ...others, MESH].flatMap((one) => one[what])),
];

/** Each data directory once: engines of one family share theirs, and with it how it is looked for. */
const dataOf = ({ databases }: Hosts): DatabaseHost[] => [
  ...new Map(databases.map((host) => [host.dataDirectory, host])).values(),
];

const databaseUnits = ({ databases }: Hosts): string => [...new Set(databases.flatMap(({ units }) => units))].join(" ");

const indented = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);

/** The one directory that is looked at, copied, used and given back. */
const looked = ({ dataDirectory, keepsDataIn, foreign }: DatabaseHost): string => `data_directories() {
  ${indented(keepsDataIn, "  ")}
}
while read -r directory; do
  [ "$(readlink -m "$directory")" = ${dataDirectory} ] || refuse "keeps its database in $directory, and only ${dataDirectory} could be given back as it was"
done < <(echo ${dataDirectory}; data_directories)
foreign() {
  ${indented(foreign, "  ")}
}
directory=$(foreign | sed -n 1p); [ -z "$directory" ] || refuse "has a database of its own ($directory)"`;

const copied = ({ dataDirectory }: DatabaseHost): string => `if [ -d ${dataDirectory} ]; then
  tar -C ${dirname(dataDirectory)} --one-file-system -czf "$state.new/${basename(dataDirectory)}.tar.gz" ${basename(dataDirectory)}
fi
echo ${dataDirectory} >> "$state.new/looked"`;

/**
 * Written down once, before anything is changed: the packages that are there, what runs, and a copy of the database
 * directories. A host whose database or tunnel is in use is refused: it would be taken over. So is one whose data lies
 * anywhere else than where it would be looked for.
 *
 * @param dataDirectory of the database that is to come
 */
export function foundScript(dataDirectory: string, hosts: Hosts): string {
  return `state=${STATE}
if [ ! -e "$state/found" ]; then
  refuse() { echo "$(hostname): $*; this host is left alone" >&2; exit 1; }
  case "$(. /etc/os-release; echo "$ID $VERSION_ID")" in "debian 12"|"debian 13") ;; *) refuse "runs $(. /etc/os-release; echo "$PRETTY_NAME"), and Debian 12 or 13 is needed" ;; esac
  [ ! -e /etc/wireguard/wg0.conf ] || refuse "has a WireGuard interface wg0 of its own"
  shopt -s nullglob
  ${indented(dataOf(hosts).map(looked).join("\n"), "  ")}
  install -d -m 0700 "$state.new"; rm -f "$state.new/looked"
  dpkg-query -W -f '\${binary:Package} \${db:Status-Status}\\n' | awk '$2 == "installed" { print $1 }' | sort > "$state.new/packages"
  for unit in ${[...all(hosts, "units"), ...QUIET_UNITS].join(" ")}; do
    echo "$unit $(systemctl is-enabled "$unit" 2>/dev/null | head -n 1) $(systemctl is-active "$unit" 2>/dev/null)"
  done > "$state.new/units"
  stat -c '%a %n' ${all(hosts, "directories").join(" ")} > "$state.new/directories" 2>/dev/null || true
  systemctl stop ${databaseUnits(hosts)} 2>/dev/null || true
  ${indented(dataOf(hosts).map(copied).join("\n"), "  ")}
  mv "$state.new" "$state"
  touch "$state/found"
fi
${writeFile(`${STATE}/leave`, leaveScript(hosts), "0700")}
${hostFacts(dataDirectory)}`;
}

/** What was not looked at is not ours to remove: hosts that were found before there was such a list had one directory. */
const givenBack = ({ dataDirectory }: DatabaseHost): string => {
  const copy = `"$state/${basename(dataDirectory)}.tar.gz"`;
  return `if ! (cat "$state/looked" 2>/dev/null || echo /var/lib/mysql) | grep -qx ${dataDirectory}; then :
elif [ -e ${copy} ]; then
  find ${dataDirectory} -mindepth 1 -xdev -delete
  tar -C ${dirname(dataDirectory)} -xzf ${copy}
elif mountpoint -q ${dataDirectory}; then find ${dataDirectory} -mindepth 1 -xdev -delete
else rm -rf ${dataDirectory}; fi`;
};

/**
 * Leaves the host as it was found; every part may be done already. Kept on the host, so that a later version of the
 * project can leave too.
 */
export function leaveScript(hosts: Hosts): string {
  const stopped = [hosts.databases, hosts.others].flatMap((some) => some.flatMap(({ units }) => units));
  return `#!/bin/bash
set -u
state=${STATE}
[ -d "$state" ] || exit 0
for unit in $(systemctl list-units --all --plain --no-legend 'meshbench-*' | awk '{ print $1 }') ${[...new Set(stopped)].join(" ")} wg-quick@wg0; do
  # One that was not looked at when the host was found is its owner's.
  case "$unit" in meshbench-*|wg-quick@wg0) ;; *) grep -q "^$unit " "$state/units" || continue ;; esac
  systemctl stop "$unit" 2>/dev/null
done
systemctl disable --quiet wg-quick@wg0 meshbench-check.socket 2>/dev/null
ip link delete wg0 2>/dev/null
rm -rf ${all(hosts, "files").join(" ")}
for directory in ${all(hosts, "directories").join(" ")}; do grep -q " $directory$" "$state/directories" || rmdir "$directory" 2>/dev/null; done
while read -r mode directory; do chmod "$mode" "$directory"; done < "$state/directories"
systemctl daemon-reload
systemctl reset-failed 2>/dev/null
# Packages that were not here before; those that others brought in since are not ours to remove.
new=$(dpkg-query -W -f '\${binary:Package} \${db:Status-Status}\\n' | awk '$2 == "installed" { print $1 }' | sort | comm -13 "$state/packages" - | grep -E '^(${all(hosts, "packages").join("|")})' || true)
if [ -n "$new" ]; then DEBIAN_FRONTEND=noninteractive flock -w 900 ${PACKAGE_LOCK} apt-get -q -o DPkg::Lock::Timeout=300 purge -y $new >/dev/null 2>&1 || echo "$(hostname): some packages could not be removed: $new" >&2; fi
${dataOf(hosts).map(givenBack).join("\n")}
${hosts.databases.flatMap(({ undo }) => undo ?? []).join("\n")}
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
