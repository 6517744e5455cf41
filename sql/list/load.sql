-- How many rows wait for a slot, up to a limit, and the last key of these, which are hashes: one of several looks with
-- UNION ALL between them.
-- Index: PRIMARY of future_job, a range, the limit's entries. Locks: none.
-- 1: which look it is, 2: slot, 3: limit
SELECT ? AS look, COUNT(*) AS jobs, MAX(job_key) AS last FROM
  (SELECT job_key FROM {prefix}future_job FORCE INDEX (PRIMARY) WHERE next_check_at = ? ORDER BY job_key LIMIT ?) few
