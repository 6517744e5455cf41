-- Lock the check of a run, if it is still the row that was read or left there: what longrun/find reads comes back. It is refused at once
-- where somebody else has it locked.
-- Index: PRIMARY of future_job, one entry. Locks: the row.
-- 1: next_check_at, 2: job_key, 3: revision
SELECT UTC_TIMESTAMP(6), next_check_at, revision, due_at, inserted_at, check_count,
  error_count, put_off_count, LEAST(total_ms, 9000000000000000000)
FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND job_key = ? AND revision = ? FOR UPDATE NOWAIT
