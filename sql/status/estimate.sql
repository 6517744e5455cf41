-- About how many rows are overdue, as the optimiser estimates it, which reads no row? Not asked in the dialect plain.
-- Index: PRIMARY of future_job, a few pages of it. Locks: none.
-- 1: before
EXPLAIN FORMAT=TRADITIONAL SELECT COUNT(*) FROM {prefix}future_job
  /*!80000 IGNORE INDEX (job_key) *//*M! FORCE INDEX (PRIMARY) */ WHERE next_check_at < ?
