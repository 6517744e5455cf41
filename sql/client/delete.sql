-- Delete pending checks, if they are still the rows that were read. The hint keeps MariaDB from locking UNIQUE (job_key)
-- first, which deadlocks with a slot run.
-- Index: PRIMARY of future_job, one entry each. Locks: the rows.
-- {rows}: the rows as they were read, by next_check_at, job_key and revision
DELETE job FROM ({prefix}future_job job FORCE INDEX (PRIMARY)) -- only full
DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY) -- only plain
WHERE {rows}
