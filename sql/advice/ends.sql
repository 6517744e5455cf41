-- Ended checks in a range of keys, which are hashes: some are as good as any. A page is found by its keys alone, and so
-- those that ended before the time are passed over in the index. Of two ends of a check at the same microsecond one may
-- be passed over. The order is that of the page, which no server promises.
-- Index: job_key of job_history, a range from the cursor to the end of it, covering; then PRIMARY, one entry a row. Locks: none.
-- 1: the cursor's job_key, 2: last job_key of the range, 3: the cursor's job_key, 4: its ended_at, 5: ended at this time or later, 6: limit
SELECT job.job_key, job.ended_at, job.entity_name, job.job_exec, job.inserted_at, job.first_check_at, job.slot, job.started_at,
  job.outcome, job.check_count
FROM (SELECT ended_at, job_key, revision FROM {prefix}job_history FORCE INDEX (job_key)
      WHERE job_key >= ? AND job_key <= ? AND (job_key > ? OR ended_at > ?) AND ended_at >= ?
      ORDER BY job_key, ended_at LIMIT ?) page
  STRAIGHT_JOIN {prefix}job_history job
  ON job.ended_at = page.ended_at AND job.job_key = page.job_key AND job.revision = page.revision
