-- As lock.sql, leaving out the rows that somebody else has locked.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
SELECT job_key, revision FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND (job_key IN ({keys}) OR 1 = 0) FOR UPDATE SKIP LOCKED
