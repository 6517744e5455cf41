-- Lock the check of a run, if it is still the row that was read. It is refused at once where somebody else has it locked.
-- Index: PRIMARY of future_job, one entry. Locks: the row.
-- 1: next_check_at, 2: job_key, 3: revision
SELECT revision FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND job_key = ? AND revision = ? FOR UPDATE NOWAIT
