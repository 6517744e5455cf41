-- The lines of a bucket's books by job_exec, for who goes on with a bucket in which something was committed. Behind the fence.
-- Index: PRIMARY of exec_run, a range. Locks: none.
-- 1: slot, 2: bucket
SELECT job_exec, entity_name, calls, errors, timeouts, panics, moved, dropped,
  put_off_unregistered, put_off_paused, put_off_abandoned, put_off_waiting, put_off_otherwise,
  done, max_checks, past_return, beyond_horizon, failed, timed_out, crashed, expired, missed, too_soon, overlapped, quota,
  run_ms, longest_run_ms, lateness_ms, longest_lateness_ms, run_buckets, lateness_buckets, reason, reason_checks, example
FROM {prefix}exec_run WHERE slot = ? AND bucket = ?
