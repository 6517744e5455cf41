-- The check of a run, as it is now, the database's clock, and whether the job_exec is paused.
-- Index: UNIQUE (job_key), one entry; PRIMARY of job_pause, two. Locks: none.
-- 1: job_exec, 2: all of them, 3: job_key
SELECT UTC_TIMESTAMP(6), job.next_check_at, job.revision, job.due_at, job.inserted_at, job.check_count,
  job.error_count, job.put_off_count, LEAST(job.total_ms, 9000000000000000000),
  EXISTS (SELECT 1 FROM {prefix}job_pause WHERE job_exec IN (?, ?))
FROM {prefix}slot_config config LEFT JOIN {prefix}future_job job ON job.job_key = ?
WHERE config.id = 1
