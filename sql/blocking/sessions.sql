-- What do some sessions do, and what did they send last? MySQL's. The right is SELECT on performance_schema.
-- Index: none, memory. Locks: none.
-- {ids}: the numbers of their connections
SELECT thread.PROCESSLIST_ID, COALESCE(thread.PROCESSLIST_USER, ''), COALESCE(thread.PROCESSLIST_HOST, ''),
       COALESCE(thread.PROCESSLIST_DB, ''),
       COALESCE(thread.PROCESSLIST_COMMAND, ''), COALESCE(thread.PROCESSLIST_STATE, ''), COALESCE(thread.PROCESSLIST_TIME, 0),
       COALESCE(LEFT(thread.PROCESSLIST_INFO, 1000), ''),
       COALESCE((SELECT LEFT(statement.SQL_TEXT, 1000) FROM performance_schema.events_statements_current statement
                 WHERE statement.THREAD_ID = thread.THREAD_ID ORDER BY statement.EVENT_ID DESC LIMIT 1), '')
FROM performance_schema.threads thread
WHERE thread.PROCESSLIST_ID IN ({ids})
