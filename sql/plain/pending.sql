-- What CALL pending does, behind check.sql: lists what is pending for an entity. It locks nothing, unless the transaction is SERIALIZABLE.
-- The role app-sql is enough.
SELECT entity_name, entity_key, job_exec, tag, due_at, next_check_at, check_count, error_count, put_off_count, last_error, payload,
  expires_at
FROM future_job FORCE INDEX (job_key)
WHERE job_key BETWEEN @first AND @last AND entity_name = @entity_name AND entity_key = @entity_key
ORDER BY job_key;
