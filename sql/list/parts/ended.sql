SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.first_check_at, job.next_check_at,
       job.check_count, job.error_count, job.put_off_count, COALESCE(job.last_error, '') AS last_error,
       LEAST(job.total_ms, 9000000000000000000) AS total_ms,
       {payload} AS payload, job.revision, job.inserted_at, job.slot, job.outcome,
       COALESCE(job.error, '') AS error, job.started_at, job.ended_at, job.run_ms, job.lateness_ms, job.worker, job.expires_at
