-- Which runs are still this worker's, are their checks still pending as they were when they started, and for which slots do these wait?
-- Index: PRIMARY of long_run and UNIQUE (job_key) of future_job, one entry each. Locks: none.
-- {runs}: conditions on run.job_key and run.token
SELECT run.job_key,
  job.job_key IS NOT NULL AND job.due_at = run.due_at AND job.inserted_at = run.inserted_at AND job.check_count = run.check_count,
  run.allocated_until, job.next_check_at, job.revision
FROM {prefix}long_run run FORCE INDEX (PRIMARY) LEFT JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = run.job_key
WHERE ({runs} OR 1 = 0) AND {lives run.allocated_until}
