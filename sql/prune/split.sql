-- Split the last partition of job_history or event_published. It copies the rows that are there, of which there should be none, and
-- keeps out writes to the table meanwhile.
-- Locks: the table's metadata; waits for them at most lock_wait_timeout, and holds up whoever comes after it as long.
-- {table}: its name; {partitions}: PARTITION … VALUES LESS THAN …, the last of them p_later
ALTER TABLE {prefix}{table} REORGANIZE PARTITION p_later INTO ({partitions})
