-- Read the next rows of a bucket. Equality on the slot and a cursor on the key: what was deleted before is not walked.
-- {filter} is empty, or keeps to one job_exec, or leaves some out.
-- Index: PRIMARY of future_job, a range. Locks: none.
-- 1: slot, 2: first job_key (inclusive), 3: last job_key (inclusive), then what {filter} takes, then the limit
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, check_count, error_count, put_off_count,
       last_error, total_ms, payload, revision, inserted_at
FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND job_key >= ? AND job_key <= ? {filter}
ORDER BY job_key LIMIT ?
