-- Have a pending check go on under another definition, with its times and counts, if it is still the row that was read. What a slot run
-- is about to commit of it is not, then: its revision is another. The hint as in delete.sql.
-- Index: PRIMARY of future_job, one entry, and UNIQUE (job_key) where that changes. Locks: the row.
-- {job_exec}, {job_key}, {payload}, {expires_at}: of the new definition, where they change; {slot}, {key}, {revision}: the row as read
UPDATE {prefix}future_job FORCE INDEX (PRIMARY)
SET job_exec = {job_exec}, {job_key}payload = {payload}, expires_at = {expires_at}, inserted_at = UTC_TIMESTAMP(6),
    revision = revision + 1
WHERE next_check_at = {slot} AND job_key = {key} AND revision = {revision}
