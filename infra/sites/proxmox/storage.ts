/** The database directory on a disk of its own: what runs on the node before the server comes. Pure text. */
import { basename } from "node:path";
import type { DatabaseHost } from "../../databases/engine.ts";
import { ensurePackages } from "../../packages.ts";

/** The disk's serial number, by which the node finds it whatever bus it is on; Proxmox takes at most 20 characters. */
export const DATA_SERIAL = "meshbench-data";
export const DATA_MOUNT = "/srv/meshbench";

/**
 * After a stop and start too, a node is ready only when its services are. One that failed is no reason to wait for
 * ever.
 */
export const BOOTED = "timeout 300 systemctl is-system-running --wait >/dev/null 2>&1 || true";

/** First boot's configuration is over; its failure is one of the node's, shown with the end of its log. */
export const CLOUD_INIT_DONE = `if command -v cloud-init >/dev/null 2>&1; then
  timeout 600 cloud-init status --wait >/dev/null 2>&1 || code=$?
  # 2: done with a warning that does not matter here, such as a key that another version would not know.
  case "\${code:-0}" in 0|2) ;; *) echo "$(hostname): cloud-init did not finish: $(cloud-init status 2>&1 | head -n 3 | tr '\\n' ' ')" >&2; tail -n 5 /var/log/cloud-init.log >&2 || true; exit 1 ;; esac
fi`;

/**
 * Finds the disk, makes a filesystem when it has none - never over one that is there - and puts the database directory
 * on it. What a package has already made in that directory moves along. Every part is skipped when it is done.
 */
export function dataDiskScript(
  filesystem: "ext4" | "xfs",
  { dataDirectory, units }: Pick<DatabaseHost, "dataDirectory" | "units">,
): string {
  const kept = `${DATA_MOUNT}/${basename(dataDirectory)}`;
  return `${filesystem === "xfs" ? `${ensurePackages(["xfsprogs"])}\n` : ""}device=
for _ in $(seq 60); do
  for found in /dev/disk/by-id/*${DATA_SERIAL}; do [ -b "$found" ] && device=$found && break 2; done
  sleep 1
done
[ -n "$device" ] || { echo "$(hostname): the disk ${DATA_SERIAL} did not appear" >&2; exit 1; }
present=$(blkid -o value -s TYPE "$device" || true)
if [ -z "$present" ]; then mkfs.${filesystem} -q "$device"; udevadm settle || true
elif [ "$present" != ${filesystem} ]; then echo "$(hostname): the disk ${DATA_SERIAL} holds $present, not ${filesystem}; it is left alone" >&2; exit 1; fi
install -d -m 0755 ${DATA_MOUNT} ${dataDirectory}
grep -q " ${DATA_MOUNT} " /etc/fstab || echo "UUID=$(blkid -o value -s UUID "$device") ${DATA_MOUNT} ${filesystem} noatime 0 2" >> /etc/fstab
mountpoint -q ${DATA_MOUNT} || mount ${DATA_MOUNT}
if ! mountpoint -q ${dataDirectory}; then
  systemctl stop ${units.join(" ")} 2>/dev/null || true
  # A directory of its own: the filesystem's lost+found is no database.
  [ -e ${kept} ] || { cp -a ${dataDirectory} ${kept}.new; mv ${kept}.new ${kept}; }
  grep -q " ${dataDirectory} " /etc/fstab || echo "${kept} ${dataDirectory} none bind,x-systemd.requires-mounts-for=${DATA_MOUNT} 0 0" >> /etc/fstab
  mount ${dataDirectory}
fi`;
}

/** A container's mount point is made by Proxmox; here it is only seen to be there. */
export const mountPointScript = (dataDirectory: string): string =>
  `mountpoint -q ${dataDirectory} || { echo "$(hostname): ${dataDirectory} is no mount point, as its storage profile asks for" >&2; exit 1; }`;

/** Prints what the database directory really lies on, and what the node is, as JSON. */
export const hostFacts = (dataDirectory: string): string => `target=${dataDirectory}; [ -d "$target" ] || target=/
read -r source fstype options < <(findmnt -n -T "$target" -o SOURCE,FSTYPE,OPTIONS)
printf '{"cpus":%s,"memoryMb":%s,"kernel":"%s","virtualization":"%s","databaseOn":{"source":"%s","filesystem":"%s","options":"%s"}}\\n' \\
  "$(nproc)" "$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" "$(uname -r)" "$(systemd-detect-virt 2>/dev/null || true)" "$source" "$fstype" "$options"`;
