-- The partitions of job_history or event_published, in order, and what each ends before. A table without partitions has no row.
-- Index: none, the data dictionary. Locks: none.
-- {table}: its name
SELECT PARTITION_NAME AS name, PARTITION_DESCRIPTION AS before_what
FROM information_schema.PARTITIONS
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{prefix}{table}' AND PARTITION_NAME IS NOT NULL
ORDER BY PARTITION_ORDINAL_POSITION
