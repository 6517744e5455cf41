-- A check with a time that is no day of the calendar, such as the 31st of February: no table that has one can be copied.
-- Index: none, all of future_job. Locks: none.
SELECT entity_name, entity_key, job_exec, HEX(job_key) AS job_key FROM {prefix}future_job
WHERE NOT ((due_at + INTERVAL 0 DAY = due_at AND first_check_at + INTERVAL 0 DAY = first_check_at
    AND next_check_at + INTERVAL 0 DAY = next_check_at AND inserted_at + INTERVAL 0 DAY = inserted_at) IS TRUE
  AND (expires_at IS NULL OR (expires_at + INTERVAL 0 DAY = expires_at) IS TRUE))
LIMIT 1
