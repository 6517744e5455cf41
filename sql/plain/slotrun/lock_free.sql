-- As the full one, refused at once where somebody else has one of the rows: the batch is then cut up until that is alone. TiDB
-- knows the words SKIP LOCKED, and takes no lock for them.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
SELECT job_key, revision FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND (job_key IN ({keys}) OR 1 = 0) FOR UPDATE NOWAIT
