/** Package work on a node, one step at a time, and nothing of the distribution's own beside it. Pure bash text. */

/** Held by whoever works with packages; steps of one node run side by side. */
export const PACKAGE_LOCK = "/run/lock/meshbench-packages";

/** Until the lock, or the locks of apt and dpkg, must have become free, s. An unattended upgrade takes minutes. */
const WAIT_SECONDS = 900;

/**
 * Jobs of the distribution that use processor, disk and network when they like, and hold apt's locks meanwhile: stopped
 * and masked for the stack's life. A node that is ours dies with its stack; on a host that is not, `leave` undoes it.
 */
export const QUIET_UNITS = [
  "apt-daily.timer",
  "apt-daily-upgrade.timer",
  "apt-daily.service",
  "apt-daily-upgrade.service",
  "unattended-upgrades.service",
  "man-db.timer",
  "dpkg-db-backup.timer",
  "e2scrub_all.timer",
  "fstrim.timer",
];

/**
 * Idempotent; instant when all are masked. What is under way is told to end and not waited for: the upgrade of a package
 * that is half done goes on to its end, and holds apt's locks until then.
 */
export const QUIET_SCRIPT = `loud=$(systemctl list-unit-files --no-legend --plain ${QUIET_UNITS.join(" ")} 2>/dev/null | awk '$2 != "masked" { print $1 }' || true)
if [ -n "$loud" ]; then systemctl mask --quiet $loud; systemctl stop --no-block $loud 2>/dev/null || true; fi`;

/**
 * Defines \`packages\`: runs its arguments (apt-get and what goes with it) as the only package work on the node. Again
 * while somebody else holds one of apt's or dpkg's locks - DPkg::Lock::Timeout covers neither /var/lib/apt/lists/lock
 * nor /var/cache/apt/archives/lock - and after an interrupted dpkg has been put right. The last lines of the output go
 * to stderr when it fails.
 */
export const PACKAGES_FUNCTION = `packages() {
  (
    log=$(mktemp /tmp/meshbench-apt.XXXXXX); trap 'rm -f "$log"' EXIT
    export DEBIAN_FRONTEND=noninteractive LC_ALL=C
    flock -w ${WAIT_SECONDS} 9 || { echo "$(hostname): another step has been working with packages for over ${WAIT_SECONDS} s" >&2; exit 1; }
    deadline=$((SECONDS + ${WAIT_SECONDS})); told=0; mended=0
    until "$@" >"$log" 2>&1 9>&-; do
      if [ $SECONDS -lt $deadline ] && grep -qE 'Could not get lock|Unable to (lock|acquire)|is another process using it|(is|was) locked by another process' "$log"; then
        [ $told = 1 ] || echo "$(hostname): waiting for $(sed -nE 's/.*held by process ([0-9]+ \\([^)]*\\)).*/process \\1/p' "$log" | head -n 1 | grep . || echo "somebody else's package work")" >&2
        told=1; sleep 2
      elif [ $mended = 0 ] && grep -qE 'dpkg was interrupted|dpkg --configure -a' "$log"; then
        mended=1; dpkg --configure -a >/dev/null 2>&1 9>&- || true
      else tail -n 5 "$log" >&2; exit 1; fi
    done
  ) 9>${PACKAGE_LOCK}
}`;

const APT = "apt-get -q -o DPkg::Lock::Timeout=60 -o Acquire::Retries=3";

/** Installs what is missing from the node's own Debian sources; silent and instant when nothing is. */
export function ensurePackages(names: string[]): string {
  return `missing=$(for package in ${names.join(" ")}; do dpkg-query -W -f='\${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"; done | paste -sd ' ')
if [ -n "$missing" ]; then
  echo "installing $missing" >&2
  ${PACKAGES_FUNCTION.replaceAll("\n", "\n  ")}
  packages ${APT} update && packages ${APT} install -y --no-install-recommends $missing || { echo "$(hostname): apt-get could not install $missing" >&2; exit 1; }
fi`;
}

/**
 * Installs one thing that is no package name alone: a file, a version. `packages` and `fail` must be defined in the
 * script.
 */
export function installPackage(what: string, options: string, sentence: string): string {
  return `packages ${APT} install -y ${options} ${what} || fail ${JSON.stringify(sentence)}`;
}
