-- A page of the ends of an hour, behind a cursor.
-- Index: PRIMARY of job_history, a range from the cursor's time, at most the limit's entries and those of that very time. Locks: none.
-- 1: time of the cursor, 2: before, 3: time of the cursor, 4, 5: its job_key, 6: its revision, 7: limit
SELECT ended_at, job_key, revision, job_exec, entity_name, outcome, check_count, error_count, started_at IS NOT NULL, run_ms, total_ms,
  COALESCE(lateness_ms, 0), COALESCE(TIMESTAMPDIFF(MICROSECOND, due_at, started_at) DIV 1000, 0), IF(outcome = 'done', NULL, error)
FROM {prefix}job_history FORCE INDEX (PRIMARY)
WHERE ended_at >= ? AND ended_at < ? AND (ended_at > ? OR job_key > ? OR job_key = ? AND revision > ?)
ORDER BY ended_at, job_key, revision LIMIT ?
