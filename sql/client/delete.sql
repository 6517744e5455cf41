-- Delete a pending check, if it is still the row that was read.
-- Index: PRIMARY of future_job, one entry. Locks: the row.
DELETE FROM {prefix}future_job WHERE next_check_at = {slot} AND job_key = {key} AND revision = {revision}
