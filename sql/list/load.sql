-- How many rows wait for a slot, up to a limit: one of several looks with UNION ALL between them.
-- Index: PRIMARY of future_job, a range, the limit's entries. Locks: none.
-- 1: which look it is, 2: slot, 3: limit
SELECT ? AS look, COUNT(*) AS jobs FROM
  (SELECT 1 FROM {prefix}future_job FORCE INDEX (PRIMARY) WHERE next_check_at = ? LIMIT ?) few
