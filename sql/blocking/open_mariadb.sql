-- Which transactions are open the longest? One of them may have the metadata lock that somebody waits for. The right is PROCESS.
-- Index: none, memory. Locks: none.
SELECT trx.trx_mysql_thread_id FROM information_schema.INNODB_TRX trx
WHERE trx.trx_mysql_thread_id NOT IN (0, CONNECTION_ID()) ORDER BY trx.trx_started LIMIT 10
