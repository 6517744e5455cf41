-- The lines of the books by job_exec of some slots, the latest first.
-- Index: PRIMARY of exec_run, a range, backwards. Locks: none.
-- 1: from, 2: before, 3: limit
SELECT slot, job_exec, entity_name, calls, errors, timeouts, panics, moved, dropped,
  put_off_unregistered, put_off_paused, put_off_abandoned, put_off_waiting, put_off_otherwise,
  done, max_checks, past_return, beyond_horizon, failed, timed_out, crashed, expired, missed, too_soon, overlapped, quota,
  run_ms, longest_run_ms, lateness_ms, longest_lateness_ms, run_buckets, lateness_buckets, reason, reason_checks, example
FROM {prefix}exec_run FORCE INDEX (PRIMARY) WHERE slot >= ? AND slot < ?
ORDER BY slot DESC, bucket DESC, job_exec DESC, entity_name DESC LIMIT ?
