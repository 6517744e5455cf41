-- Which rows are there, by the last commit? Tells a row that somebody has locked from one that is gone.
-- Index: PRIMARY of future_job, one entry a row. Locks: none.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
SELECT job_key, revision FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND (job_key IN ({keys}) OR 1 = 0)
