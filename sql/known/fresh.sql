-- The job_execs of some names that were told of lately.
-- Index: PRIMARY of exec_known, a range a name. Locks: none.
-- {job_execs}: names as literals
-- 1: how lately, in microseconds
SELECT job_exec, fingerprint FROM {prefix}exec_known FORCE INDEX (PRIMARY)
WHERE job_exec IN ({job_execs}) AND seen_at > UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
