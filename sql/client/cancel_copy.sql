-- Write the ends of cancelled rows from the rows themselves: their payloads need not travel, whatever their size. Only of those
-- that are still as they were read.
-- Index: PRIMARY of future_job, one entry each; job_history's own. Locks: the rows, and the new ones.
-- {rows}: the rows as they were read, by next_check_at, job_key and revision; {outcome}: how they end
INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.job_key, job.first_check_at, job.next_check_at,
  job.check_count, job.error_count, job.put_off_count, job.last_error, job.total_ms, job.payload, job.revision, job.inserted_at,
  job.next_check_at, {outcome}, NULL, NULL, UTC_TIMESTAMP(6), 0, NULL, '', job.expires_at
FROM {prefix}future_job job FORCE INDEX (PRIMARY)
WHERE {rows} FOR UPDATE
