-- How many rows the optimiser takes a time to have: it looks at both ends of the range in the index, and reads no row. MySQL does not look
-- where an index is forced.
-- Index: PRIMARY of future_job. Locks: none.
-- 1: from (inclusive), 2: before
EXPLAIN FORMAT=TRADITIONAL SELECT job_exec FROM {prefix}future_job
  /*!80000 IGNORE INDEX (job_key) *//*M! FORCE INDEX (PRIMARY) */ WHERE next_check_at >= ? AND next_check_at < ?
