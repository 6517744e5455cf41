-- Which of some checks have a long run that is not over: those are called already, and stay as they are.
-- Index: PRIMARY of long_run, one entry each. Locks: none.
-- {keys}: job_keys as hexadecimal literals
SELECT job_key FROM {prefix}long_run FORCE INDEX (PRIMARY) WHERE job_key IN ({keys}) AND ended_at IS NULL
