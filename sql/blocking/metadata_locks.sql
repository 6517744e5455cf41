-- Who has, and who waits for, the metadata locks that somebody waits for? The right is SELECT on performance_schema. MariaDB
-- has it with performance_schema alone, and then where the instrument is on.
-- Index: none, memory. Locks: none.
SELECT metadata.OBJECT_TYPE, COALESCE(metadata.OBJECT_SCHEMA, ''), COALESCE(metadata.OBJECT_NAME, ''), metadata.LOCK_TYPE,
       metadata.LOCK_STATUS = 'PENDING', thread.PROCESSLIST_ID
FROM performance_schema.metadata_locks metadata
  JOIN performance_schema.threads thread ON thread.THREAD_ID = metadata.OWNER_THREAD_ID
  JOIN (SELECT DISTINCT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME FROM performance_schema.metadata_locks
        WHERE LOCK_STATUS = 'PENDING') wanted
    ON wanted.OBJECT_TYPE = metadata.OBJECT_TYPE AND wanted.OBJECT_SCHEMA <=> metadata.OBJECT_SCHEMA
      AND wanted.OBJECT_NAME <=> metadata.OBJECT_NAME
WHERE metadata.OBJECT_TYPE <> 'USER LEVEL LOCK' AND thread.PROCESSLIST_ID IS NOT NULL
LIMIT 20000
