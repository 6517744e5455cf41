-- For how many seconds have some sessions had their transactions open? The right is PROCESS. The times of INNODB_TRX are in the
-- time zone of the server's machine.
-- Index: none, memory. Locks: none.
-- {ids}: the numbers of their connections
SELECT trx.trx_mysql_thread_id, COALESCE(MAX(TIMESTAMPDIFF(SECOND, CONVERT_TZ(trx.trx_started, 'SYSTEM', @@time_zone), SYSDATE())), 0)
FROM information_schema.INNODB_TRX trx
WHERE trx.trx_mysql_thread_id IN ({ids}) GROUP BY trx.trx_mysql_thread_id
