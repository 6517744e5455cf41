-- Delete the checks of an old bulk run.
-- Index: PRIMARY of bulk_check, a range. Locks: the rows.
-- 1: the number, 2: limit
DELETE FROM {prefix}bulk_check WHERE number = ? ORDER BY number, job_key LIMIT ?
