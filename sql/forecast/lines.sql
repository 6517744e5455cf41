-- What the slots or days of the forecast are to do.
-- Index: PRIMARY of forecast, a range, at most the limit's entries. Locks: none.
-- 1: grain, 2: limit
SELECT start, job_exec, due, low, high, repeats, occurrences, how FROM {prefix}forecast FORCE INDEX (PRIMARY)
WHERE grain = ? ORDER BY start, job_exec LIMIT ?
