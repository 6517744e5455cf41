-- Insert pending rows.
-- Index: those of future_job. Locks: the new rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}future_job (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  payload, revision)
VALUES {rows}
