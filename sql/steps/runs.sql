-- Runs of jobs, the latest first, with what their long runs say of those that have not ended: whether they have an agent, and whether
-- that is heard of.
-- Index: scheduled_at, job_scheduled_at or ended_at of job_run_log backwards, or PRIMARY; PRIMARY of long_run, and UNIQUE (job_key) of
-- future_job, one entry each. Locks: none.
-- {index}: which of them, {filter}: conditions, {order}: as the index has them, {limit}: how many
-- +file steps/parts/run.sql
FROM {prefix}job_run_log log FORCE INDEX ({index})
LEFT JOIN {prefix}long_run run FORCE INDEX (PRIMARY) ON run.job_key = log.job_key
WHERE {filter} ORDER BY {order} LIMIT {limit}
