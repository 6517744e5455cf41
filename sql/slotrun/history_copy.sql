-- Write the end of one row from the row itself: its payload need not travel, whatever its size. No row: it is no more as it
-- was read.
-- Index: PRIMARY of future_job, one entry; job_history's own. Locks: the row, and the new one.
-- {check_count}, {error_count}, {put_off_count}, {total_ms}: at the end
-- {last_error}, {payload}: the columns, or NULL where they cannot be written
-- {outcome}, {error}, {started_at}, {ended_at}, {run_ms}, {lateness_ms}, {worker}: of the end
-- {slot}, {key}, {revision}: the row as it was read
INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  {check_count}, {error_count}, {put_off_count}, {last_error}, {total_ms}, {payload}, revision, inserted_at,
  next_check_at, {outcome}, {error}, {started_at}, {ended_at}, {run_ms}, {lateness_ms}, {worker}, expires_at
FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = {slot} AND job_key = {key} AND revision = {revision} FOR UPDATE
