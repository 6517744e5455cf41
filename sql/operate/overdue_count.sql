-- How many rows are overdue, up to a limit?
-- Index: PRIMARY of future_job, at most the limit's entries. Locks: none.
-- 1: before, 2: limit
SELECT COUNT(*) FROM (SELECT 1 FROM {prefix}future_job FORCE INDEX (PRIMARY) WHERE next_check_at < ? LIMIT ?) few
