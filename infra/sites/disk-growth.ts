/** A disk that was made larger under a node that runs: its partition and its filesystem follow. Pure text. */
import type * as pulumi from "@pulumi/pulumi";
import { type Node, onNode } from "../node.ts";
import { ensurePackages } from "../packages.ts";

export interface Disk {
  /** Where its filesystem is mounted. */
  mount: string;
  /** Of the whole disk, GiB, as both clouds count. */
  sizeGb: number;
}

const indented = (text: string): string => text.replaceAll("\n", "\n    ");

/**
 * Waits until the kernel sees the disk's size, then grows what lies on it, mounted as it is; does nothing where all is
 * used. A mount point that lies on no disk of its own (a container, a stand-in) and a disk under a device mapper (an
 * image of one's own with LVM) are left alone, the latter with a word.
 */
export const growScript = (disks: Disk[]): string => `grow() {
  local mount=$1 gib=$2 source type name disk part="" said code=0
  source=$(findmnt -n -f -o SOURCE --mountpoint "$mount"); source=\${source%%\\[*}; type=$(findmnt -n -f -o FSTYPE --mountpoint "$mount")
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
    ${indented(ensurePackages(["cloud-guest-utils"]))}
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
${disks.map(({ mount, sizeGb }) => `grow ${mount} ${sizeGb}`).join("\n")}`;

/** Runs when the node is made, where first boot has done it, and again when a size changes. */
export const grownDisks = (node: Node, disks: Disk[], opts: pulumi.CustomResourceOptions): pulumi.Resource =>
  onNode(`${node.name}-disks`, node, { script: growScript(disks), timeoutSeconds: 1800 }, opts);
