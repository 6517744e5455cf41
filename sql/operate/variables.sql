-- Settings of the server, for everybody.
-- Locks: none.
SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format', 'sync_binlog', 'innodb_flush_log_at_trx_commit',
  'transaction_isolation', 'tx_isolation', 'sql_mode', 'time_zone', 'system_time_zone', 'read_only', 'super_read_only',
  'innodb_read_only', 'max_allowed_packet')
