-- Have a pending check go on under another job_exec, in the place of renew.sql on Vitess, which changes no key by which a row lies: it
-- becomes a row of its own, and the one that was read is deleted behind it, in the same transaction.
-- Index: PRIMARY of future_job, one entry; future_job's own. Locks: the row, and the new one.
-- {job_exec}, {new_key}, {payload}, {expires_at}: of the new definition; {slot}, {key}, {revision}: the row as it was read
INSERT INTO {prefix}future_job (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at, expires_at,
  trace, rule_version, occasion_at)
SELECT job.entity_name, job.entity_key, {job_exec}, job.tag, job.due_at, {new_key}, job.first_check_at, job.next_check_at,
  job.check_count, job.error_count, job.put_off_count, job.last_error, job.total_ms, {payload}, job.revision + 1,
  UTC_TIMESTAMP(6), {expires_at}, job.trace, job.rule_version, job.occasion_at
FROM {prefix}future_job job FORCE INDEX (PRIMARY)
WHERE job.next_check_at = {slot} AND job.job_key = {key} AND job.revision = {revision} FOR UPDATE
