-- Move a pending check to another time, if it is still the row that was read. The hint as in delete.sql.
-- Index: PRIMARY of future_job, one entry. Locks: the row.
-- {due_at}, {next_check_at}, {new_revision}: new values; {expires_at}: empty, or ", expires_at = …" where the row has one, which
-- stays as far from due_at as it was; {slot}, {key}, {revision}: the row as it was read
UPDATE {prefix}future_job FORCE INDEX (PRIMARY)
SET due_at = {due_at}, next_check_at = {next_check_at}, revision = {new_revision}{expires_at}
WHERE next_check_at = {slot} AND job_key = {key} AND revision = {revision}
