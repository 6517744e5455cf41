-- Which transactions are open, those of sessions in this database first, and of these the oldest? One of them has the table open, where
-- the server cannot say which. The right is PROCESS. trx_started is in the time zone of the server's machine.
-- Index: none, memory. Locks: none.
SELECT connection.ID AS id, connection.USER AS user, connection.HOST AS host, connection.COMMAND AS command,
       COALESCE(connection.STATE, '') AS state, TIMESTAMPDIFF(SECOND, CONVERT_TZ(trx.trx_started, 'SYSTEM', @@time_zone), NOW()) AS seconds
FROM information_schema.INNODB_TRX trx JOIN information_schema.PROCESSLIST connection ON connection.ID = trx.trx_mysql_thread_id
WHERE connection.ID <> CONNECTION_ID()
ORDER BY connection.DB <=> DATABASE() DESC, trx.trx_started LIMIT 10
