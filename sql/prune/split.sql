-- Split the last partition. It copies the rows that are there, of which there should be none, and keeps out writes to
-- history meanwhile.
-- Locks: the table's metadata; waits for them at most lock_wait_timeout, and holds up whoever comes after it as long.
-- {partitions}: PARTITION … VALUES LESS THAN …, the last of them p_later
ALTER TABLE {prefix}job_history REORGANIZE PARTITION p_later INTO ({partitions})
