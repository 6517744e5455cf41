-- How many rows wait for each slot of a window?
-- Index: PRIMARY of future_job, the window's range. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit
SELECT next_check_at AS slot, COUNT(*) AS jobs FROM {prefix}future_job
WHERE next_check_at >= ? AND next_check_at < ? GROUP BY next_check_at ORDER BY next_check_at LIMIT ?
