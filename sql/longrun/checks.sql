-- The checks of runs that are to be claimed, with the database's clock, the slot for which each waits, whether its job_exec is
-- paused, and the slot in which it was met.
-- A payload that is longer, as the server stores it, is not read: an empty text stands for it, as in slotrun/read.
-- Index: PRIMARY of long_run and UNIQUE (job_key) of future_job, one entry for each run; PRIMARY of job_pause, two. Locks: none.
-- {keys}: job_keys as hexadecimal literals
-- 1: the name of all job_execs, 2: how many bytes a payload has at most
SELECT UTC_TIMESTAMP(6), job.next_check_at, EXISTS (SELECT 1 FROM {prefix}job_pause WHERE job_exec IN (job.job_exec, ?)),
  run.slot, job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.first_check_at, job.check_count, job.error_count,
  job.put_off_count, COALESCE(job.last_error, '') AS last_error, LEAST(job.total_ms, 9000000000000000000) AS total_ms,
  IF(/*M! LENGTH *//*!80000 JSON_STORAGE_SIZE */(job.payload) > ?, '', job.payload) AS payload,
  job.revision, job.inserted_at, job.expires_at, COALESCE(job.trace, ''), job.rule_version, job.occasion_at + INTERVAL 0 DAY
FROM {prefix}long_run run FORCE INDEX (PRIMARY) JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = run.job_key
WHERE run.job_key IN ({keys}) OR 1 = 0
