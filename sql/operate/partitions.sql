-- Where do the partitions end?
-- Index: information_schema. Locks: none.
-- 1: name of the table
SELECT COALESCE(partition_description, 'MAXVALUE') FROM information_schema.partitions
WHERE table_schema = DATABASE() AND table_name = ? AND partition_name IS NOT NULL ORDER BY partition_ordinal_position
