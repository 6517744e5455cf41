-- The runs of an entity that did not end, in the order of their keys, whether their checks are pending, and whether their leases live.
-- Text comes in hexadecimal and times as text, since this runs on the app's connection, whose settings are its own. The limit is a
-- literal: a shard of Vitess prepares no LIMIT ?.
-- Index: PRIMARY of long_run, the entity's range; UNIQUE (job_key) of future_job, one entry for each run. Locks: none.
-- 1: first job_key, 2: last job_key; {limit}: how many
SELECT HEX(COALESCE(occurrence, '')), pool, HEX(agent), CAST(started_at AS CHAR), CAST(called_at AS CHAR), CAST(allocated_until AS CHAR),
  takeovers,
  EXISTS (SELECT 1 FROM {prefix}future_job job FORCE INDEX (job_key) WHERE job.job_key = run.job_key) AS pending,
  COALESCE({lives allocated_until} AND agent <> '', FALSE) AS lives
FROM {prefix}long_run run FORCE INDEX (PRIMARY)
WHERE job_key BETWEEN ? AND ? AND ended_at IS NULL ORDER BY job_key LIMIT {limit}
