-- The runs of checks, and those of the same schedules, whether their checks are pending, and whether their leases live: what a slot
-- run needs to know of long ones that it meets.
-- Those that somebody else has locked, as a renewal that is under way, are left out: there tells which.
-- Index: PRIMARY of long_run, one range for each check or schedule; UNIQUE (job_key) of future_job, one entry for
-- each run. Locks: the runs.
-- {keys}: conditions on job_key
SELECT job_key, schedule_id, pool, agent, token, allocated_until, due_at, inserted_at, check_count,
  started_at, called_at, takeovers, checkpoint, ended_at, outcome,
  EXISTS (SELECT 1 FROM {prefix}future_job job FORCE INDEX (job_key) WHERE job.job_key = run.job_key),
  COALESCE({lives allocated_until}, FALSE) AND agent <> ''
FROM {prefix}long_run run FORCE INDEX (PRIMARY)
WHERE {keys} OR 1 = 0 ORDER BY job_key FOR UPDATE SKIP LOCKED
