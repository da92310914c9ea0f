/** Whether a Galera node that was restarted is back in its cluster, not only booted. Pure text. */

/**
 * `rejoined` of the engine. A node alone in its cluster address has nobody to come back to: that is the database's own
 * step. One that does not run is started as a joiner, which never founds a cluster.
 */
export const GALERA_REJOINED = `if [ -e /var/lib/mysql/grastate.dat ] && grep -rhs '^wsrep_cluster_address' /etc/mysql | grep -q ,; then
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
