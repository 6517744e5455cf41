-- Delete the check of a long run that ended.
-- Index: PRIMARY of future_job, one entry. Locks: the row, held already.
-- 1: next_check_at, 2: job_key, 3: revision
DELETE job FROM ({prefix}future_job job FORCE INDEX (PRIMARY)) -- only full
DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY) -- only plain
WHERE job.next_check_at = ? AND job.job_key = ? AND job.revision = ?
