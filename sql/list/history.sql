-- Ended rows, the latest first, a page at a time.
-- Index: PRIMARY of job_history from the cursor on, or KEY (job_key) where an entity is given. Locks: none.
-- {filter}: conditions, 1: limit
SELECT entity_name, entity_key, job_exec, tag, due_at, first_check_at, next_check_at, check_count, error_count,
       put_off_count, COALESCE(last_error, '') AS last_error, total_ms, COALESCE(payload, '') AS payload, revision, inserted_at,
       slot, outcome, COALESCE(error, '') AS error, started_at, ended_at, run_ms, lateness_ms, worker
FROM {prefix}job_history
WHERE {filter} ORDER BY ended_at DESC, job_key DESC, revision DESC LIMIT ?
