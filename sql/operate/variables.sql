-- Settings of the server, for everybody.
-- Locks: none.
SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format', 'sync_binlog', 'innodb_flush_log_at_trx_commit',
  'time_zone', 'system_time_zone', 'read_only', 'super_read_only', 'innodb_read_only', 'transaction_read_only', 'tx_read_only',
  'offline_mode', 'innodb_force_recovery', 'autocommit', 'completion_type', 'sql_safe_updates', 'sql_select_limit', 'max_join_size',
  'enforce_storage_engine', 'transaction_isolation', 'tx_isolation', 'sql_mode', 'max_statement_time', 'max_execution_time',
  'idle_readonly_transaction_timeout', 'idle_write_transaction_timeout', 'max_allowed_packet', 'max_connections',
  'max_user_connections', 'max_prepared_stmt_count', 'alter_algorithm', 'innodb_deadlock_detect',
  'init_connect')
