-- Long runs that something is wrong with, among the first that did not end: nobody goes on with one whose lease is over, or ends so far
-- ahead that nobody heeds it, or that was handed on; it was taken over more than once; its checkpoint was refused; or it waits for the
-- one before it, or for an agent of its pool.
-- Index: ended_at of long_run, at most the first limit's entries; UNIQUE (job_key) of future_job, one entry each. Locks: none.
-- 1: lapsed before, 2: how many runs are looked at, 3: due before, 4: limit
SELECT COALESCE(CONCAT(few.schedule_id, '-', few.occurrence), CONCAT(job.entity_name, '/', job.entity_key)) AS id,
  CASE WHEN few.lapsed THEN 'left'
       WHEN job.last_error LIKE '%checkpoint too long%' THEN 'checkpoint'
       WHEN few.takeovers > 1 THEN 'takeovers'
       ELSE 'waiting' END AS kind,
  job.job_exec AS job_exec, few.pool AS pool, few.agent AS agent, few.takeovers AS takeovers, COALESCE(job.last_error, '') AS reason
FROM (SELECT job_key, schedule_id, occurrence, agent, pool,
        COALESCE(allocated_until < ? OR allocated_until > UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, 0) AS lapsed, started_at, takeovers, due_at
      FROM {prefix}long_run FORCE INDEX (ended_at)
      WHERE ended_at IS NULL ORDER BY ended_at, job_key LIMIT ?) few
  JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = few.job_key
WHERE few.lapsed OR job.last_error LIKE '%checkpoint too long%' OR few.takeovers > 1
   OR (few.started_at IS NULL AND few.due_at < ?) LIMIT ?
