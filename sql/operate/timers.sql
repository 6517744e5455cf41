-- Timers of schedules whose last call failed, among the first rows that are due up to a slot: a timer is tried again in the next
-- one.
-- Index: PRIMARY of future_job, at most the limit's entries. Locks: none.
-- 1: last slot, 2: how many rows are looked at, 3: limit
SELECT entity_key AS id, COALESCE(last_error, '') AS reason
FROM (SELECT entity_name, entity_key, job_exec, error_count, last_error FROM {prefix}future_job FORCE INDEX (PRIMARY)
      WHERE next_check_at <= ? ORDER BY next_check_at, job_key LIMIT ?) first_ones
WHERE entity_name = 'schedule' AND job_exec = 'schedule.fire' AND error_count > 0 LIMIT ?
