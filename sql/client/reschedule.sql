-- Move a pending check to another time, if it is still the row that was read.
-- Index: PRIMARY of future_job, one entry. Locks: the row.
UPDATE {prefix}future_job
SET due_at = {due_at}, next_check_at = {next_check_at}, revision = {new_revision}
WHERE next_check_at = {slot} AND job_key = {key} AND revision = {revision}
