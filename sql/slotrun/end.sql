-- Delete rows that ended, which lock.sql holds. The count must be theirs, or the commit is rolled back.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows, held already.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
DELETE FROM {prefix}future_job WHERE next_check_at = ? AND job_key IN ({keys})
