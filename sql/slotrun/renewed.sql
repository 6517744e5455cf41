-- The run of an occurrence whose schedule was changed after a slot run had read it: it has another revision by now, and may have another
-- job_exec. One that somebody else has locked is left out.
-- Index: UNIQUE (job_key), the range of a schedule. Locks: the row.
-- 1 and 2: the first and last job_key of the schedule, 3: slot, 4: tag
SELECT job_key, job_exec, revision FROM {prefix}future_job FORCE INDEX (job_key)
WHERE job_key BETWEEN ? AND ? AND next_check_at = ? AND tag = ? FOR UPDATE SKIP LOCKED
