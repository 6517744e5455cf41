-- A page of the long runs that did not end, in the order of their keys, with the checks that they are runs of. Text comes in hexadecimal
-- and times as text, as longrun/list has them.
-- Index: ended_at of long_run, from the cursor on; UNIQUE (job_key) of future_job, one entry for each run. Locks: none.
-- 1: the job_key behind which they are, 2: limit
SELECT HEX(run.job_key), HEX(COALESCE(run.schedule_id, '')), COALESCE(job.entity_name, ''), HEX(COALESCE(job.entity_key, '')),
  COALESCE(job.job_exec, ''), CAST(run.due_at AS CHAR),
  HEX(COALESCE(run.occurrence, job.tag, '')), run.pool, HEX(run.agent), CAST(run.started_at AS CHAR), CAST(run.called_at AS CHAR),
  CAST(run.allocated_until AS CHAR), run.takeovers, job.job_key IS NOT NULL AS pending,
  COALESCE({lives run.allocated_until} AND run.agent <> '', FALSE) AS lives
FROM {prefix}long_run run FORCE INDEX (ended_at)
LEFT JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = run.job_key
WHERE run.ended_at IS NULL AND run.job_key > ? ORDER BY run.job_key LIMIT ?
