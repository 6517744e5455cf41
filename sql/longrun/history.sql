-- Write the end of a long run from its check, which is locked: its slot is the one in which it started.
-- Index: PRIMARY of future_job, one entry; job_history's own. Locks: the row, held already, and the new one.
-- 1: check_count, 2: error_count, 3: total_ms, 4: slot, 5: outcome, 6: error, 7: started_at, 8: ended_at, 9: run_ms, 10: lateness_ms,
-- 11: worker, 12: next_check_at, 13: job_key, 14: revision
INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  ?, ?, put_off_count, last_error, ?, payload, revision, inserted_at,
  ?, ?, ?, ?, ?, ?, ?, ?, expires_at
FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND job_key = ? AND revision = ? FOR UPDATE
