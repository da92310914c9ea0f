/** Whether a database node that was restarted is back in its cluster, not only booted. Pure text. */

/** Seconds: a state transfer of 12 GB over 100 Mbit/s takes 17 minutes. */
export const REJOIN_SECONDS = 1800;

/** The engine's `rejoined` for a step that waits by itself. */
export const rejoinedScript = (rejoined: string, seconds = REJOIN_SECONDS): string => `rejoined() (
${rejoined}
)
since=$(date +%s)
until why=$( { rejoined; } 2>&1 ); do
  [ $(( $(date +%s) - since )) -lt ${seconds} ] || { echo "$(hostname): booted, but not back in its cluster within ${seconds} s: $why; the nodes after it were left alone" >&2; exit 1; }
  sleep 2
done`;
