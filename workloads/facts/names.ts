/**
 * What is read of a server, and what each name is: a counter grows from the server's start and only its difference over
 * a window means something; a gauge is a state of this moment (or an average that the server keeps itself) and is kept
 * as it is.
 */

export type Kind = "counter" | "gauge";
/** One sample of a server, by name. */
export type Values = Record<string, string | number>;

const words = (text: string): string[] => text.trim().split(/\s+/);

/** MySQL and MariaDB status, by group; a name that a server does not have is simply absent from its samples. */
export const MYSQL_STATUS: readonly { kind: Kind; reason: string; names: readonly string[] }[] = [
  {
    kind: "counter",
    reason: "statements by kind: whether the workload is what it says",
    names:
      words(`Queries Questions Com_select Com_insert Com_update Com_delete Com_replace Com_load Com_begin Com_commit Com_rollback
      Com_stmt_prepare Com_stmt_execute Com_stmt_close Com_stmt_reset Com_insert_select Com_set_option Slow_queries`),
  },
  {
    kind: "counter",
    reason: "row accesses that the statements cost",
    names:
      words(`Handler_read_first Handler_read_key Handler_read_last Handler_read_next Handler_read_prev Handler_read_rnd
      Handler_read_rnd_next Handler_write Handler_tmp_write Handler_update Handler_delete Handler_commit Handler_prepare Handler_rollback
      Sort_rows Created_tmp_tables Created_tmp_disk_tables Rows_read Rows_sent`),
  },
  {
    kind: "counter",
    reason: "InnoDB rows, locks and deadlocks",
    names: words(`Innodb_rows_read Innodb_rows_inserted Innodb_rows_updated Innodb_rows_deleted
      Innodb_row_lock_waits Innodb_row_lock_time Innodb_deadlocks Table_locks_waited`),
  },
  {
    kind: "counter",
    reason: "I/O: whether the disk or the log is what the run waits for",
    names: words(`Innodb_data_reads Innodb_data_writes Innodb_data_read Innodb_data_written Innodb_data_fsyncs
      Innodb_os_log_written Innodb_os_log_fsyncs Innodb_log_writes Innodb_log_write_requests Innodb_log_waits
      Innodb_buffer_pool_reads Innodb_buffer_pool_read_requests Innodb_buffer_pool_wait_free Innodb_buffer_pool_pages_flushed
      Binlog_commits Binlog_group_commits Binlog_bytes_written`),
  },
  {
    kind: "counter",
    reason: "connections and traffic",
    names: words(`Connections Aborted_clients Aborted_connects Bytes_received Bytes_sent Connection_errors_internal
      Connection_errors_max_connections Uptime`),
  },
  {
    kind: "counter",
    reason: "Galera: writesets, conflicts, and the time in which flow control stood still",
    names: words(`wsrep_replicated wsrep_replicated_bytes wsrep_repl_keys wsrep_repl_keys_bytes wsrep_repl_data_bytes
      wsrep_repl_other_bytes wsrep_received wsrep_received_bytes wsrep_local_commits wsrep_local_cert_failures wsrep_local_replays
      wsrep_local_bf_aborts wsrep_flow_control_paused_ns wsrep_flow_control_sent wsrep_flow_control_recv wsrep_last_committed`),
  },
  {
    kind: "gauge",
    reason: "Galera: averages since FLUSH STATUS, kept by the provider itself",
    names:
      words(`wsrep_flow_control_paused wsrep_local_send_queue_avg wsrep_local_recv_queue_avg wsrep_cert_deps_distance
      wsrep_cert_interval wsrep_apply_oooe wsrep_apply_oool wsrep_apply_window wsrep_apply_waits wsrep_commit_oooe wsrep_commit_oool
      wsrep_commit_window wsrep_evs_repl_latency`),
  },
  {
    kind: "gauge",
    reason: "Galera: the state of this moment",
    names: words(`wsrep_local_send_queue wsrep_local_send_queue_max wsrep_local_recv_queue wsrep_local_recv_queue_max
      wsrep_flow_control_active wsrep_flow_control_requested wsrep_cert_index_size wsrep_causal_reads wsrep_open_transactions
      wsrep_thread_count wsrep_applier_thread_count wsrep_local_state wsrep_local_state_comment wsrep_ready wsrep_connected
      wsrep_cluster_size wsrep_cluster_status wsrep_cluster_conf_id wsrep_cluster_state_uuid wsrep_local_index wsrep_gmcast_segment
      wsrep_evs_state wsrep_evs_delayed wsrep_evs_evict_list wsrep_desync_count wsrep_provider_version wsrep_incoming_addresses`),
  },
  {
    kind: "gauge",
    reason: "semi-synchronous replication: a fall back to asynchronous changes what is measured",
    names: words(
      "Rpl_semi_sync_master_status Rpl_semi_sync_master_clients Rpl_semi_sync_slave_status Rpl_semi_sync_source_status Rpl_semi_sync_source_clients Rpl_semi_sync_replica_status",
    ),
  },
  {
    kind: "counter",
    reason: "semi-synchronous replication: transactions with and without an acknowledgement",
    names: words(
      "Rpl_semi_sync_master_yes_tx Rpl_semi_sync_master_no_tx Rpl_semi_sync_master_tx_wait_time Rpl_semi_sync_source_yes_tx Rpl_semi_sync_source_no_tx Rpl_semi_sync_source_tx_wait_time",
    ),
  },
  {
    kind: "gauge",
    reason: "load and memory of this moment; maxima and averages over the server's life",
    names:
      words(`Threads_connected Threads_running Max_used_connections Innodb_row_lock_current_waits Innodb_row_lock_time_avg
      Innodb_row_lock_time_max Innodb_buffer_pool_pages_total Innodb_buffer_pool_pages_free Innodb_buffer_pool_pages_dirty
      Innodb_buffer_pool_pages_data Innodb_history_list_length Innodb_checkpoint_age Innodb_checkpoint_max_age Memory_used`),
  },
];

/** Variables that change what a run measures. */
export const MYSQL_VARIABLES: readonly string[] = words(`
  version version_comment innodb_version innodb_buffer_pool_size innodb_log_file_size innodb_redo_log_capacity
  innodb_flush_log_at_trx_commit innodb_flush_method innodb_doublewrite innodb_io_capacity innodb_io_capacity_max
  innodb_autoinc_lock_mode innodb_adaptive_hash_index innodb_change_buffering innodb_lock_wait_timeout innodb_page_size
  innodb_use_native_aio innodb_snapshot_isolation
  sync_binlog log_bin binlog_format gtid_mode log_slave_updates max_connections max_prepared_stmt_count thread_handling thread_pool_size
  table_open_cache query_cache_type query_cache_size performance_schema skip_name_resolve transaction_isolation tx_isolation
  autocommit init_connect sql_mode max_allowed_packet local_infile character_set_server collation_server auto_increment_increment auto_increment_offset
  wsrep_on wsrep_provider wsrep_provider_options wsrep_slave_threads wsrep_sync_wait wsrep_causal_reads wsrep_sst_method wsrep_trx_fragment_size
  wsrep_max_ws_rows wsrep_max_ws_size wsrep_retry_autocommit wsrep_certify_nonPK wsrep_cluster_name wsrep_node_name wsrep_mode
  group_replication_flow_control_mode slave_parallel_workers replica_parallel_workers slave_parallel_type replica_parallel_type
  group_replication_group_seeds group_replication_single_primary_mode group_replication_consistency
  rpl_semi_sync_master_enabled rpl_semi_sync_master_wait_point rpl_semi_sync_master_timeout
  rpl_semi_sync_source_enabled rpl_semi_sync_source_wait_point rpl_semi_sync_source_timeout
  rpl_semi_sync_source_wait_for_replica_count rpl_semi_sync_replica_enabled super_read_only`);

/**
 * Columns of pg_stat_database (the current one), pg_stat_bgwriter, pg_stat_checkpointer and pg_stat_wal are counters
 * but for these.
 */
export const POSTGRES_GAUGES: ReadonlySet<string> = new Set([
  "numbackends",
  "locks_waiting",
  "backends_active",
  "version",
]);

export const POSTGRES_SETTINGS: readonly string[] = words(`
  server_version shared_buffers effective_cache_size work_mem maintenance_work_mem max_connections max_wal_size min_wal_size wal_buffers
  wal_level wal_compression wal_sync_method fsync synchronous_commit synchronous_standby_names full_page_writes commit_delay
  checkpoint_timeout checkpoint_completion_target random_page_cost effective_io_concurrency default_transaction_isolation
  autovacuum jit plan_cache_mode max_parallel_workers_per_gather track_io_timing huge_pages block_size data_checksums ssl`);

const KINDS = new Map(MYSQL_STATUS.flatMap(({ kind, names }) => names.map((name) => [name, kind] as const)));

/**
 * A name that is in no table is taken for a gauge: a difference of what is not known to grow would be a wrong figure.
 */
export const mysqlKind = (name: string): Kind => KINDS.get(name) ?? "gauge";

export const postgresKind = (name: string): Kind => (POSTGRES_GAUGES.has(name) ? "gauge" : "counter");
