import { httpCheck } from "./http-check.ts";

/**
 * Says 200 only when the node is Synced and takes queries: a port that answers is no sign of that. A donor stays in
 * service where its transfer lets it serve on: mariabackup copies beside the load, rsync holds every write until it is
 * done. wsrep_desync=ON, an operator's own word, shows as the same state and takes the node out.
 */
export const GALERA_CHECK = httpCheck(
  `state=$(mariadb --connect-timeout=2 -N -B -e "SELECT CONCAT_WS(' ', (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_LOCAL_STATE_COMMENT'), (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_READY'), (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_CLUSTER_STATUS'), IF(@@GLOBAL.wsrep_sst_method = 'mariabackup' AND NOT @@GLOBAL.wsrep_desync AND NOT @@GLOBAL.wsrep_sst_donor_rejects_queries, 'serves as donor', NULL))" 2>/dev/null)
case "$state" in
  "Synced ON Primary"* | "Donor/Desynced ON Primary serves as donor") code="200 OK" ;;
  *) code="503 Service Unavailable" ;;
esac
body="\${state:-no answer}"`,
);
