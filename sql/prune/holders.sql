-- Who has history open in a transaction or statement? MySQL knows; MariaDB only with performance_schema.
-- Index: none, memory. Locks: none.
SELECT thread.PROCESSLIST_ID AS id, COALESCE(thread.PROCESSLIST_USER, '') AS user, COALESCE(thread.PROCESSLIST_HOST, '') AS host,
       COALESCE(thread.PROCESSLIST_COMMAND, '') AS command, COALESCE(thread.PROCESSLIST_STATE, '') AS state,
       COALESCE(thread.PROCESSLIST_TIME, 0) AS seconds
FROM performance_schema.metadata_locks held JOIN performance_schema.threads thread ON thread.THREAD_ID = held.OWNER_THREAD_ID
WHERE held.OBJECT_TYPE = 'TABLE' AND held.OBJECT_SCHEMA = DATABASE() AND held.OBJECT_NAME = '{prefix}job_history'
  AND held.LOCK_STATUS = 'GRANTED' AND thread.PROCESSLIST_ID <> CONNECTION_ID()
GROUP BY id, user, host, command, state, seconds ORDER BY seconds DESC LIMIT 10
