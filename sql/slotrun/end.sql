-- Delete rows that ended, which lock.sql holds. The count must be theirs, or the commit is rolled back.
-- Without the hint MariaDB goes by UNIQUE (job_key), or over the whole table; without OR 1 = 0 it makes a subquery of a
-- list of 1000.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows, held already.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY)
WHERE job.next_check_at = ? AND (job.job_key IN ({keys}) OR 1 = 0)
