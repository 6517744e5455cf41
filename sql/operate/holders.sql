-- Who has a table, view or procedure open in a transaction or statement, or keeps everybody from changing anything by a read lock of
-- the whole server? The right is SELECT on performance_schema. MySQL knows; MariaDB only with performance_schema.
-- Index: none, memory. Locks: none.
-- {names}: literals, the names
SELECT thread.PROCESSLIST_ID AS id, COALESCE(thread.PROCESSLIST_USER, '') AS user, COALESCE(thread.PROCESSLIST_HOST, '') AS host,
       COALESCE(thread.PROCESSLIST_COMMAND, '') AS command, COALESCE(thread.PROCESSLIST_STATE, '') AS state,
       CAST(COALESCE(MAX(trx.TIMER_WAIT DIV 1000000000000), thread.PROCESSLIST_TIME, 0) AS SIGNED) AS seconds
FROM performance_schema.metadata_locks held JOIN performance_schema.threads thread ON thread.THREAD_ID = held.OWNER_THREAD_ID
  LEFT JOIN performance_schema.events_transactions_current trx ON trx.THREAD_ID = held.OWNER_THREAD_ID AND trx.STATE = 'ACTIVE'
WHERE held.LOCK_STATUS = 'GRANTED' AND thread.PROCESSLIST_ID <> CONNECTION_ID()
  AND (held.OBJECT_TYPE IN ('TABLE', 'PROCEDURE') AND held.OBJECT_SCHEMA = DATABASE() AND held.OBJECT_NAME IN ({names})
    OR held.OBJECT_TYPE IN ('GLOBAL', 'BACKUP LOCK') AND held.LOCK_TYPE = 'SHARED'
    OR held.OBJECT_TYPE = 'BACKUP' AND held.LOCK_TYPE NOT IN
      ('BACKUP_DML', 'BACKUP_TRANS_DML', 'BACKUP_SYS_DML', 'BACKUP_DDL', 'BACKUP_COMMIT', 'BACKUP_ALTER_COPY'))
GROUP BY thread.PROCESSLIST_ID, thread.PROCESSLIST_USER, thread.PROCESSLIST_HOST, thread.PROCESSLIST_COMMAND, thread.PROCESSLIST_STATE,
         thread.PROCESSLIST_TIME
ORDER BY seconds DESC LIMIT 10
