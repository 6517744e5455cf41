-- The check of a run, as it is now, and the database's clock.
-- Index: UNIQUE (job_key), one entry. Locks: none.
-- 1: job_key
SELECT UTC_TIMESTAMP(6), job.next_check_at, job.revision, job.due_at, job.inserted_at, job.check_count,
  job.error_count, job.put_off_count, LEAST(job.total_ms, 9000000000000000000)
FROM {prefix}slot_config config LEFT JOIN {prefix}future_job job ON job.job_key = ?
WHERE config.id = 1
