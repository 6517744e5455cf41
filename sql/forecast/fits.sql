-- Whether the slots or days of a turn of the forecast end in time.
-- Index: PRIMARY of forecast_fit, a range, at most the limit's entries. Locks: none.
-- 1: grain, 2: from (inclusive), 3: limit
SELECT start, due, low, high, occurrences, how, concurrency, unknown, begins_at, last_start_at, ends_at, verdict, over_ms, job_exec
FROM {prefix}forecast_fit FORCE INDEX (PRIMARY) WHERE grain = ? AND start >= ? ORDER BY start LIMIT ?
