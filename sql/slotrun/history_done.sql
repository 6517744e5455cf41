-- Write the ends of rows that are done, follow one another in the table and were called together: what is written is
-- theirs, so that it need not travel again. The count must be theirs, or the commit is rolled back. TIMESTAMP makes times of
-- the texts once, which would else be done for each row.
-- Index: PRIMARY of future_job, a range; job_history's own. Locks: the new rows; those read are held already.
-- {first}, {last}: job_keys (inclusive) as literals, as in read.sql
-- 1: run_ms, 2: outcome, 3: started_at, 4: ended_at, 5: run_ms, 6: lateness_ms, 7: worker, 8: slot
INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, 0, 0, last_error, LEAST(total_ms, 9000000000000000000) + ?, payload, revision, inserted_at,
  next_check_at, ?, NULL, TIMESTAMP ?, TIMESTAMP ?, ?, ?, ?, expires_at
FROM {prefix}future_job FORCE INDEX (PRIMARY) WHERE next_check_at = ? AND job_key >= {first} AND job_key <= {last}
