-- Delete the last rows of ranges that end_ranges.sql deletes, which this transaction has locked. The count must be theirs, or
-- the commit is rolled back. The dialect plain deletes all rows like this that do not follow one another.
-- Without the hint MariaDB goes by UNIQUE (job_key), or over the whole table; without OR 1 = 0 it makes a subquery of a
-- list of 1000.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows, held already.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
DELETE job FROM ({prefix}future_job job FORCE INDEX (PRIMARY)) -- only full
DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY) -- only plain
WHERE job.next_check_at = ? AND (job.job_key IN ({keys}) OR 1 = 0)
