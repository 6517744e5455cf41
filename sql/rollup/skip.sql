-- The end that is so many behind a cursor, with which a count goes on.
-- Index: PRIMARY of job_history, a range of so many entries, and those of the cursor's very time. Locks: none.
-- 1: time of the cursor, 2: before, 3: time of the cursor, 4, 5: its job_key, 6: its revision, 7: how many
SELECT ended_at, job_key, revision FROM {prefix}job_history FORCE INDEX (PRIMARY)
WHERE ended_at >= ? AND ended_at < ? AND (ended_at > ? OR job_key > ? OR job_key = ? AND revision > ?)
ORDER BY ended_at, job_key, revision LIMIT 1 OFFSET ?
