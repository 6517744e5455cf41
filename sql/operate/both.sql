-- Which rows are pending and ended at once, among the first pending ones and what has ended since a time? Only the last end of a row's
-- key is looked at: while the row is pending as it is, no other can come.
-- Index: PRIMARY of future_job, the limit's entries; KEY (job_key) of job_history for each, one entry in each partition since then.
-- Locks: none. 1: limit, 2: since when
SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.next_check_at
FROM (SELECT entity_name, entity_key, job_exec, tag, next_check_at, job_key, revision
      FROM {prefix}future_job ORDER BY next_check_at, job_key LIMIT ?) job
WHERE job.revision = (SELECT ended.revision FROM {prefix}job_history ended FORCE INDEX (job_key)
                      WHERE ended.job_key = job.job_key AND ended.ended_at >= ? ORDER BY ended.ended_at DESC LIMIT 1)
LIMIT 1
