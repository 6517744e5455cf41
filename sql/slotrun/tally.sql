-- Write lines of a bucket's books by job_exec, as they are from now on. Behind the fence, after what became of the rows.
-- Index: PRIMARY of exec_run. Locks: the lines, until the commit; the holder of the bucket's lease alone writes them.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}exec_run (slot, bucket, job_exec, entity_name, calls, errors, timeouts, panics, moved, dropped,
  put_off_unregistered, put_off_paused, put_off_abandoned, put_off_waiting, put_off_otherwise,
  done, max_checks, past_return, beyond_horizon, failed, timed_out, crashed, expired, missed, too_soon, overlapped, quota,
  run_ms, longest_run_ms, lateness_ms, longest_lateness_ms, run_buckets, lateness_buckets, reason, reason_checks, example)
VALUES {rows}
ON DUPLICATE KEY UPDATE calls = VALUES(calls), errors = VALUES(errors), timeouts = VALUES(timeouts), panics = VALUES(panics),
  moved = VALUES(moved), dropped = VALUES(dropped), put_off_unregistered = VALUES(put_off_unregistered),
  put_off_paused = VALUES(put_off_paused), put_off_abandoned = VALUES(put_off_abandoned),
  put_off_waiting = VALUES(put_off_waiting), put_off_otherwise = VALUES(put_off_otherwise),
  done = VALUES(done), max_checks = VALUES(max_checks), past_return = VALUES(past_return),
  beyond_horizon = VALUES(beyond_horizon), failed = VALUES(failed), timed_out = VALUES(timed_out), crashed = VALUES(crashed),
  expired = VALUES(expired), missed = VALUES(missed), too_soon = VALUES(too_soon), overlapped = VALUES(overlapped),
  quota = VALUES(quota), run_ms = VALUES(run_ms), longest_run_ms = VALUES(longest_run_ms), lateness_ms = VALUES(lateness_ms),
  longest_lateness_ms = VALUES(longest_lateness_ms), run_buckets = VALUES(run_buckets),
  lateness_buckets = VALUES(lateness_buckets), reason = VALUES(reason), reason_checks = VALUES(reason_checks),
  example = VALUES(example)
