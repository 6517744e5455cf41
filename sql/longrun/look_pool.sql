-- What of a pool may be claimed, the longest lapsed first; or what lapses next. It is a part of look. A run whose check is gone has
-- no job_exec. What this agent cannot call is left out: however much of it waits, it is not in the way of the rest.
-- Index: pool of long_run, a range; UNIQUE (job_key) of future_job, one entry for each run. Locks: none.
-- {pool}: as a literal, {which}: whether their leases are over, end far ahead, or live
-- {execs}: a list of the job_execs that this agent has, {limit}: how many
SELECT UTC_TIMESTAMP(6), run.job_key, run.pool, run.agent, run.token, run.allocated_until, run.due_at, job.job_exec
FROM {prefix}long_run run FORCE INDEX (pool) LEFT JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = run.job_key
WHERE run.pool = {pool} AND {which}
  AND (job.job_exec IS NULL OR job.job_exec IN ({execs}))
ORDER BY run.allocated_until LIMIT {limit}
