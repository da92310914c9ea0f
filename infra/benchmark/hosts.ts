/**
 * What a node's own machine does while the load runs: one line a second from /proc, by a systemd unit that ends by
 * itself. Pure text.
 */
import { writeFile } from "../scripts.ts";

/**
 * In memory, so that sampling does not write to the disk that is measured; a reboot empties it, so a file holds one
 * boot.
 */
export const HOSTS_DIR = "/run/meshbench-hosts";
/** A run that nobody comes back for is sampled no longer than this. A day of samples is about 17 MB. */
const MAX_SECONDS = 86_400;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * bash alone: a process per second and node would show in what it samples. First line: what is sampled; then
 * `up=<s> cpu=<user,nice,system,idle,iowait,irq,softirq,steal> own=<us> mem=<kB> disk=<sectors read,written>
 * net=<received,sent bytes>`, each part only where the node has it. up: seconds since boot, which no change of the
 * clock moves. cpu, mem, disk: as /proc shows them, which in a container is the machine's. own: CPU time of the
 * container that the node is, from its control group. net: from /proc, since a container's /sys can show the interfaces
 * of the machine.
 */
export const SAMPLER = `LC_ALL=C
exec {pause}<> <(:)
kind=machine
systemd-detect-virt --quiet --container && kind=container
quota=; [ ! -r /sys/fs/cgroup/cpu.max ] || read -r quota period < /sys/fs/cgroup/cpu.max
limit=; [ -z "$quota" ] || [ "$quota" = max ] || limit=" quota=$quota/$period"
echo "meshbench-hosts 1 source=$kind cores=$(nproc)$limit"
disks=' '
for path in /sys/block/*; do [ ! -e "$path/device" ] || disks+="\${path##*/} "; done
while :; do
  read -r up _ < /proc/uptime
  line="up=$up"
  read -r _ user nice system idle iowait irq softirq steal _ < /proc/stat
  line+=" cpu=$user,$nice,$system,$idle,$iowait,$irq,$softirq,$steal"
  if [ "$kind" = container ] && [ -r /sys/fs/cgroup/cpu.stat ]; then
    read -r _ own < /sys/fs/cgroup/cpu.stat && line+=" own=$own"
  fi
  while read -r key value _; do [ "$key" != MemAvailable: ] || { line+=" mem=$value"; break; }; done < /proc/meminfo
  fetched=0 written=0
  while read -r _ _ name _ _ sectors _ _ _ more _; do
    case $disks in *" $name "*) fetched=$((fetched + sectors)) written=$((written + more)) ;; esac
  done < /proc/diskstats
  line+=" disk=$fetched,$written"
  while read -r name received _ _ _ _ _ _ _ sent _; do [ "$name" != wg0: ] || line+=" net=$received,$sent"; done < /proc/net/dev
  echo "$line"
  read -rt 1 -u "$pause" _ || true
done
`;

const unitOf = (runKey: string): string => `meshbench-hosts-${runKey}.service`;
const fileOf = (runKey: string): string => `${HOSTS_DIR}/${runKey}`;

/** Begins to sample unless that is under way. What an earlier run left is ended and removed. */
export function startSamplingScript(runKey: string): string {
  const unit = unitOf(runKey);
  return `if ! systemctl is-active --quiet ${unit}; then
  systemctl stop 'meshbench-hosts-*.service' 2>/dev/null || true
  find ${HOSTS_DIR} -type f ! -name ${runKey} -delete 2>/dev/null || true
fi
${writeFile(`${HOSTS_DIR}/sampler`, SAMPLER)}
if ! systemctl is-active --quiet ${unit}; then
  systemctl reset-failed ${unit} 2>/dev/null || true
  systemd-run --quiet --collect --unit=${unit} --property=RuntimeMaxSec=${MAX_SECONDS} --property=LimitFSIZE=${MAX_BYTES} \\
    --property=StandardOutput=append:${fileOf(runKey)} --property=StandardError=null bash ${HOSTS_DIR}/sampler
fi`;
}

/** One line: seconds since boot, seconds since the epoch. */
export const CLOCK_SCRIPT = `read -r up _ < /proc/uptime
LC_ALL=C
echo "$up $EPOCHREALTIME"`;

/** Ends the sampling and prints what there is, compressed; nothing when there is nothing. */
export function fetchSamplesScript(runKey: string): string {
  return `systemctl stop ${unitOf(runKey)} 2>/dev/null || true
[ ! -e ${fileOf(runKey)} ] || gzip -c ${fileOf(runKey)}`;
}

export function removeSamplesScript(runKey: string): string {
  return `systemctl stop ${unitOf(runKey)} 2>/dev/null || true
rm -rf ${HOSTS_DIR}`;
}
