galera_recovery 2>/dev/null | sed -n 's/.*--wsrep_start_position=\([0-9a-f-]*:-\{0,1\}[0-9]*\).*/\1/p'
