-- Write ends. In the transaction that deletes the rows.
-- Index: job_history's own. Locks: the new rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
VALUES {rows}
