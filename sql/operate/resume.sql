-- End pauses.
-- Index: PRIMARY of job_pause, one entry a pause. Locks: these records.
-- {job_execs}
DELETE FROM {prefix}job_pause WHERE job_exec IN ({job_execs})
