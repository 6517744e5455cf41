-- Delete a pending check, if it is still the row that was read. The hint keeps MariaDB from locking UNIQUE (job_key)
-- first, which deadlocks with a slot run.
-- Index: PRIMARY of future_job, one entry. Locks: the row.
-- {slot}, {key}, {revision}: the row as it was read
DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY)
WHERE job.next_check_at = {slot} AND job.job_key = {key} AND job.revision = {revision}
