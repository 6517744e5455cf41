-- The job_execs of some keys.
-- Index: UNIQUE (job_key) of future_job, one entry each. Locks: none.
-- {keys}: the keys
SELECT job_key, job_exec FROM {prefix}future_job FORCE INDEX (job_key) WHERE job_key IN ({keys})
