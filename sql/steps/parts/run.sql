SELECT log.job, log.occurrence, HEX(log.job_key), log.version, CAST(log.scheduled_at AS CHAR), CAST(log.started_at AS CHAR),
  CAST(log.ended_at AS CHAR), HEX(log.agent), log.takeovers, log.result, HEX(log.error),
  run.job_key IS NOT NULL AND run.ended_at IS NULL
    AND (COALESCE({lives run.allocated_until}, FALSE) AND run.agent <> ''
      OR EXISTS (SELECT 1 FROM {prefix}future_job job FORCE INDEX (job_key) WHERE job.job_key = log.job_key)),
  HEX(run.agent), run.allocated_until IS NOT NULL,
  COALESCE({lives run.allocated_until}, FALSE) AND run.agent <> ''
