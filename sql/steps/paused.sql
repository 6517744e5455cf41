-- Whether a job_exec is paused.
-- Index: PRIMARY of job_pause, two entries. Locks: none.
-- 1: job_exec, 2: the name that stands for all
SELECT COUNT(*) FROM {prefix}job_pause WHERE job_exec IN (?, ?)
