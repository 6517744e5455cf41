-- Which transactions wait for rows that others have locked, or are to get first? MySQL's. The rights are PROCESS, and SELECT on
-- performance_schema. The times of INNODB_TRX are in the time zone of the server's machine.
-- Index: none, memory. Locks: none.
SELECT waiting.trx_mysql_thread_id, blocking.trx_mysql_thread_id, wanted.OBJECT_SCHEMA, wanted.OBJECT_NAME, COALESCE(wanted.INDEX_NAME, ''),
       wanted.LOCK_MODE, held.LOCK_STATUS = 'WAITING',
       COALESCE(TIMESTAMPDIFF(SECOND, CONVERT_TZ(waiting.trx_wait_started, 'SYSTEM', @@time_zone), SYSDATE()), 0)
FROM performance_schema.data_lock_waits wait
  JOIN performance_schema.data_locks wanted ON wanted.ENGINE_LOCK_ID = wait.REQUESTING_ENGINE_LOCK_ID
  JOIN performance_schema.data_locks held ON held.ENGINE_LOCK_ID = wait.BLOCKING_ENGINE_LOCK_ID
  JOIN information_schema.INNODB_TRX waiting ON waiting.trx_id = wait.REQUESTING_ENGINE_TRANSACTION_ID
  JOIN information_schema.INNODB_TRX blocking ON blocking.trx_id = wait.BLOCKING_ENGINE_TRANSACTION_ID
LIMIT 20000
