-- Runs of jobs, the latest first, with what their long runs say of those that have not ended: whether they have an agent, and whether
-- that is heard of.
-- Index: scheduled_at, job_scheduled_at or ended_at of job_run_log backwards, or PRIMARY; PRIMARY of long_run, and UNIQUE (job_key) of
-- future_job, one entry each. Locks: none.
-- {index}: which of them, {filter}: conditions, {order}: as the index has them, {limit}: how many
SELECT log.job, log.occurrence, HEX(log.job_key), log.version, CAST(log.scheduled_at AS CHAR), CAST(log.started_at AS CHAR),
  CAST(log.ended_at AS CHAR), HEX(log.agent), log.takeovers, log.result, HEX(log.error),
  run.job_key IS NOT NULL AND run.ended_at IS NULL
    AND (COALESCE({lives run.allocated_until}, FALSE) AND run.agent <> ''
      OR EXISTS (SELECT 1 FROM {prefix}future_job job FORCE INDEX (job_key) WHERE job.job_key = log.job_key)),
  HEX(run.agent), run.allocated_until IS NOT NULL,
  COALESCE({lives run.allocated_until}, FALSE) AND run.agent <> ''
FROM {prefix}job_run_log log FORCE INDEX ({index})
LEFT JOIN {prefix}long_run run FORCE INDEX (PRIMARY) ON run.job_key = log.job_key
WHERE {filter} ORDER BY {order} LIMIT {limit}
