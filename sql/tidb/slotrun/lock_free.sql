-- As lock.sql: TiDB knows the words SKIP LOCKED and takes no lock for them. So it waits for whoever has a row, and its
-- bucket's commits with it.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
SELECT job_key, revision FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND (job_key IN ({keys}) OR 1 = 0) FOR UPDATE
