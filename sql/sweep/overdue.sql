-- Which slots of a time hold rows, overdue ones above all? A loose scan: one look a slot, whatever it holds. The lower bound
-- keeps off the entries that were deleted and not purged yet.
-- Index: PRIMARY of future_job. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit
SELECT DISTINCT next_check_at FROM {prefix}future_job
WHERE next_check_at >= ? AND next_check_at < ? ORDER BY next_check_at LIMIT ?
