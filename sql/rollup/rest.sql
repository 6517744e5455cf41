-- How many ends of an hour are behind a cursor, where skip.sql says that they are few.
-- Index: PRIMARY of job_history, a range of so many entries, and those of the cursor's very time. Locks: none.
-- 1: time of the cursor, 2: before, 3: time of the cursor, 4, 5: its job_key, 6: its revision
SELECT COUNT(*) FROM {prefix}job_history FORCE INDEX (PRIMARY)
WHERE ended_at >= ? AND ended_at < ? AND (ended_at > ? OR job_key > ? OR job_key = ? AND revision > ?)
