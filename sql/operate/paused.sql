-- Which of some job_execs are paused, by whom and why, before that changes. Text comes in hexadecimal.
-- Index: PRIMARY of job_pause, one entry each. Locks: these records.
-- {job_execs}
SELECT job_exec, HEX(paused_by), HEX(reason) FROM {prefix}job_pause WHERE job_exec IN ({job_execs}) ORDER BY job_exec FOR UPDATE
