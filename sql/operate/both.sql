-- Which rows are pending and ended at once, among the first pending ones and what has ended since a time?
-- Index: PRIMARY of future_job, the limit's entries; KEY (job_key) of job_history for each, in the partitions since then.
-- Locks: none. 1: limit, 2: since when
SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.next_check_at
FROM (SELECT entity_name, entity_key, job_exec, tag, next_check_at, job_key, revision
      FROM {prefix}future_job ORDER BY next_check_at, job_key LIMIT ?) job
STRAIGHT_JOIN {prefix}job_history ended FORCE INDEX (job_key)
  ON ended.job_key = job.job_key AND ended.revision = job.revision AND ended.ended_at >= ?
LIMIT 1
