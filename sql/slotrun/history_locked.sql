-- Lock rows that are done, follow one another in the table and were called together, and write their ends, where they are
-- still those that were read: lock_ranges and history_done in one pass. The count must be theirs, or the commit is rolled
-- back; what came between them shows in the count of end_ranges. The limit is their number: where they are all there, the
-- first row of a neighbour is never looked at. Where somebody has one of them locked, this fails at once.
-- Index: PRIMARY of future_job, a range; job_history's own. Locks: the rows; the new rows.
-- {rows}: X'…', X'…': job_key and the digits of revision. MariaDB makes a subquery of long lists, but not within OR.
-- 1: run_ms, 2: outcome, 3: started_at, 4: ended_at, 5: run_ms, 6: lateness_ms, 7: worker, 8: slot, 9: first job_key,
-- 10: last job_key, 11: limit
INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker)
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, 0, 0, last_error, total_ms + ?, payload, revision, inserted_at,
  next_check_at, ?, NULL, ?, ?, ?, ?, ?
FROM {prefix}future_job FORCE INDEX (PRIMARY) WHERE next_check_at = ? AND job_key >= ? AND job_key <= ?
  AND (CONCAT(job_key, revision) IN ({rows}) OR 1 = 0)
ORDER BY job_key LIMIT ? FOR UPDATE NOWAIT
