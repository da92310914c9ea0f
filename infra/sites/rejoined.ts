/** Whether a database node that was restarted is back in its cluster, not only booted. Pure text. */

/**
 * Bash that prints nothing and goes on when the node is a member that serves, or never was one; otherwise leaves with 11
 * and says on stderr in which state it is. A node alone in its cluster address has nobody to come back to: that is the
 * database's own step. One that does not run is started as a joiner, which never founds a cluster.
 */
export const REJOINED = `if [ -e /var/lib/mysql/grastate.dat ] && grep -rhs '^wsrep_cluster_address' /etc/mysql | grep -q ,; then
  case "$(systemctl is-active mariadb || true)" in
    active) ;;
    activating | deactivating | reloading) echo "MariaDB is $(systemctl is-active mariadb || true)" >&2; exit 11 ;;
    *) echo "MariaDB is $(systemctl is-active mariadb || true) and was started" >&2; systemctl reset-failed mariadb || true; systemctl start --no-block mariadb || true; exit 11 ;;
  esac
  wsrep() { mariadb -N -B -e "SHOW GLOBAL STATUS LIKE '$1'" 2>/dev/null | cut -f 2; }
  if [ "$(wsrep wsrep_ready)" != ON ] || [ "$(wsrep wsrep_cluster_status)" != Primary ]; then
    echo "wsrep_ready is $(wsrep wsrep_ready | grep . || echo unknown), state $(wsrep wsrep_local_state_comment | grep . || echo unknown)" >&2
    exit 11
  fi
fi`;

/** Seconds: a state transfer of 12 GB over 100 Mbit/s takes 17 minutes. */
export const REJOIN_SECONDS = 1800;

/** The same for a step that waits by itself; \`name\` as messages call the node. */
export const rejoinedScript = (seconds = REJOIN_SECONDS): string => `rejoined() (
${REJOINED}
)
since=$(date +%s)
until why=$( { rejoined; } 2>&1 ); do
  [ $(( $(date +%s) - since )) -lt ${seconds} ] || { echo "$(hostname): booted, but not back in its cluster within ${seconds} s: $why; the nodes after it were left alone" >&2; exit 1; }
  sleep 2
done`;
