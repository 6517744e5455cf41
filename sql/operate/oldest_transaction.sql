-- Which transaction is open the longest, and for how many seconds? It wants the right PROCESS. trx_started is in the time zone of
-- the server's machine, SYSDATE() in that of the connection. A prepared XA transaction may have connection 0.
-- Index: none, memory. Locks: none.
SELECT trx.trx_mysql_thread_id, GREATEST(TIMESTAMPDIFF(SECOND, CONVERT_TZ(trx.trx_started, 'SYSTEM', @@time_zone), SYSDATE()), 0)
FROM information_schema.INNODB_TRX trx
WHERE trx.trx_mysql_thread_id <> CONNECTION_ID() ORDER BY trx.trx_started LIMIT 1
