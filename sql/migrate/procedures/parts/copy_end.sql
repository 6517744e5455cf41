INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.job_key, job.first_check_at, job.next_check_at,
  job.check_count, job.error_count, job.put_off_count, job.last_error, job.total_ms, job.payload, job.revision, job.inserted_at,
  job.next_check_at, 'cancelled', NULL, NULL, UTC_TIMESTAMP(6), 0, NULL, '', job.expires_at
FROM {prefix}future_job job FORCE INDEX (PRIMARY)
WHERE job.next_check_at = v_slot AND job.job_key = v_key AND job.revision = v_revision FOR UPDATE;
