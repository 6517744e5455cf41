-- What CALL ended does, behind check.sql: lists how the checks of an entity ended, the latest first. The role app-sql is enough, which may
-- read these columns of history and no other.
SELECT entity_name, entity_key, job_exec, tag, due_at, slot, outcome, error, check_count, started_at, ended_at
FROM job_history FORCE INDEX (job_key)
WHERE job_key BETWEEN @first AND @last AND entity_name = @entity_name AND entity_key = @entity_key
ORDER BY ended_at DESC, job_key DESC LIMIT 100;
