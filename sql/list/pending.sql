-- Pending rows in the order in which they come due, a page at a time.
-- Index: PRIMARY of future_job from the cursor on, or UNIQUE (job_key) where an entity is given. Locks: none.
-- {filter}: conditions, 1: limit
SELECT entity_name, entity_key, job_exec, tag, due_at, first_check_at, next_check_at, check_count, error_count,
       put_off_count, COALESCE(last_error, '') AS last_error, total_ms, COALESCE(payload, '') AS payload, revision, inserted_at
FROM {prefix}future_job
WHERE {filter} ORDER BY next_check_at, job_key LIMIT ?
