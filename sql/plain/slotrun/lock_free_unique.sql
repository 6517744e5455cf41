-- As the full one, with NOWAIT in the place of SKIP LOCKED, as lock_free.sql.
-- Index: UNIQUE (job_key), one entry a row. Locks: the entries, and their rows, held already.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
SELECT job_key, revision FROM {prefix}future_job FORCE INDEX (job_key)
WHERE next_check_at = ? AND (job_key IN ({keys}) OR 1 = 0) FOR UPDATE NOWAIT
