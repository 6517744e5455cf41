-- How far behind is the server's purge, for how long is the oldest transaction open, and how much did the slot's own commits
-- add to what is to be purged, those of all its workers? Left out are the connection that asks and the one whose snapshot is
-- open. Both tables of InnoDB want the right PROCESS. trx_started is in the time zone of the server's machine, SYSDATE() in that
-- of the connection. A claim is a commit, too; a release mostly goes with the last one.
-- Index: PRIMARY of slot_run, a range; none of the rest, which is memory. Locks: none.
-- 1: connection that has the snapshot, 2: slot
SELECT CONNECTION_ID(),
  (SELECT metric.COUNT FROM information_schema.INNODB_METRICS metric WHERE metric.NAME = 'trx_rseg_history_len'),
  (SELECT COALESCE(MAX(TIMESTAMPDIFF(SECOND, CONVERT_TZ(trx.trx_started, 'SYSTEM', @@time_zone), SYSDATE())), 0)
   FROM information_schema.INNODB_TRX trx WHERE trx.trx_mysql_thread_id NOT IN (CONNECTION_ID(), ?)),
  (SELECT CAST(COALESCE(SUM(run.batch_seq + (run.started_at IS NOT NULL)), 0) AS UNSIGNED)
   FROM {prefix}slot_run run FORCE INDEX (PRIMARY) WHERE run.slot = ?)
