-- Which transactions wait for rows that others have locked, or are to get first? MariaDB's. The right is PROCESS. A table's name
-- comes as `database`.`table`, and what partition it is. The times of INNODB_TRX are in the time zone of the server's machine.
-- Index: none, memory. Locks: none.
SELECT waiting.trx_mysql_thread_id, blocking.trx_mysql_thread_id, '', wanted.lock_table, COALESCE(wanted.lock_index, ''),
       wanted.lock_mode, COALESCE(blocking.trx_requested_lock_id = wait.blocking_lock_id, FALSE),
       COALESCE(TIMESTAMPDIFF(SECOND, CONVERT_TZ(waiting.trx_wait_started, 'SYSTEM', @@time_zone), SYSDATE()), 0)
FROM information_schema.INNODB_LOCK_WAITS wait
  JOIN information_schema.INNODB_LOCKS wanted ON wanted.lock_id = wait.requested_lock_id
  JOIN information_schema.INNODB_TRX waiting ON waiting.trx_id = wait.requesting_trx_id
  JOIN information_schema.INNODB_TRX blocking ON blocking.trx_id = wait.blocking_trx_id
LIMIT 20000
