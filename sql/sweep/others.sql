-- Has a slot rows of other job_execs than some?
-- Index: PRIMARY of future_job, a range, up to the first such row. Locks: none.
-- {job_execs}: ? for each of those
-- 1: slot; then what {job_execs} takes
SELECT EXISTS (SELECT 1 FROM {prefix}future_job FORCE INDEX (PRIMARY) WHERE next_check_at = ? AND job_exec NOT IN ({job_execs}))
