-- What is paused?
-- Index: PRIMARY of job_pause. Locks: none.
SELECT job_exec, since, paused_by, reason FROM {prefix}job_pause ORDER BY job_exec
