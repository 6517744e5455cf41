-- A page of history from the earliest end on, behind a cursor: which slot each end was of, and how it ended.
-- Index: PRIMARY of job_history, a range from the cursor's time, at most the limit's entries and those of that very time. Locks: none.
-- 1: time of the cursor, 2: before, 3: time of the cursor, 4, 5: its job_key, 6: its revision, 7: limit
SELECT ended_at, job_key, revision, slot, outcome FROM {prefix}job_history FORCE INDEX (PRIMARY)
WHERE ended_at >= ? AND ended_at < ? AND (ended_at > ? OR job_key > ? OR job_key = ? AND revision > ?)
ORDER BY ended_at, job_key, revision LIMIT ?
