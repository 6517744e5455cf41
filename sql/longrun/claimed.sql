-- Runs that were claimed, and their checks, which are to be called: the slot of each is that in which it was met.
-- A payload of more than 16 MB, as the server stores it, is not read: an empty text stands for it, as in slotrun/read.
-- Index: PRIMARY of long_run and UNIQUE (job_key) of future_job, one entry for each run. Locks: none.
-- {keys}: job_keys as hexadecimal literals
SELECT run.slot, job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.first_check_at, job.check_count, job.error_count,
  job.put_off_count, COALESCE(job.last_error, '') AS last_error, LEAST(job.total_ms, 9000000000000000000) AS total_ms,
  IF(/*M! LENGTH *//*!80000 JSON_STORAGE_SIZE */(job.payload) > 16777216, '', job.payload) AS payload,
  job.revision, job.inserted_at, job.expires_at
FROM {prefix}long_run run FORCE INDEX (PRIMARY) JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = run.job_key
WHERE run.job_key IN ({keys}) OR 1 = 0
