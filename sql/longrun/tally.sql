-- Add what became of a long run to the books by job_exec of the slot in which it began. Where the ledger of the slot was pruned, nothing.
-- Of several reasons the first stays.
-- Index: PRIMARY of slot_run, one entry; PRIMARY of exec_run, one entry. Locks: the line, until the commit: long runs that began in
-- one slot wait there for each other.
-- {values}: a line, but for slot and bucket, in the order of the columns; {run}, {lateness}: paths of buckets
-- 1: slot
INSERT INTO {prefix}exec_run (slot, bucket, job_exec, entity_name, calls, errors, timeouts, panics, moved, dropped,
  put_off_unregistered, put_off_paused, put_off_abandoned, put_off_waiting, put_off_otherwise,
  done, max_checks, past_return, beyond_horizon, failed, timed_out, crashed, expired, missed, too_soon, overlapped, quota,
  run_ms, longest_run_ms, lateness_ms, longest_lateness_ms, run_buckets, lateness_buckets, reason, reason_checks, example)
SELECT ledger.slot, 65535, {values} FROM (SELECT slot FROM {prefix}slot_run WHERE slot = ? AND bucket = 0) ledger
ON DUPLICATE KEY UPDATE
  run_buckets = IF(VALUES(calls) = 0, run_buckets,
    JSON_SET(run_buckets, {run}, CAST(COALESCE(JSON_EXTRACT(run_buckets, {run}), 0) AS UNSIGNED) + 1)),
  lateness_buckets = IF(VALUES(calls) = 0, lateness_buckets,
    JSON_SET(lateness_buckets, {lateness}, CAST(COALESCE(JSON_EXTRACT(lateness_buckets, {lateness}), 0) AS UNSIGNED) + 1)),
  example = COALESCE(example, VALUES(example)),
  reason_checks = reason_checks + IF(COALESCE(reason, VALUES(reason)) = VALUES(reason), 1, 0),
  reason = COALESCE(reason, VALUES(reason)),
  calls = calls + VALUES(calls), errors = errors + VALUES(errors), timeouts = timeouts + VALUES(timeouts),
  panics = panics + VALUES(panics), moved = moved + VALUES(moved),
  put_off_waiting = put_off_waiting + VALUES(put_off_waiting), put_off_otherwise = put_off_otherwise + VALUES(put_off_otherwise),
  done = done + VALUES(done), max_checks = max_checks + VALUES(max_checks), past_return = past_return + VALUES(past_return),
  beyond_horizon = beyond_horizon + VALUES(beyond_horizon), failed = failed + VALUES(failed),
  timed_out = timed_out + VALUES(timed_out), crashed = crashed + VALUES(crashed), expired = expired + VALUES(expired),
  missed = missed + VALUES(missed), too_soon = too_soon + VALUES(too_soon), overlapped = overlapped + VALUES(overlapped),
  quota = quota + VALUES(quota), run_ms = run_ms + VALUES(run_ms),
  longest_run_ms = GREATEST(longest_run_ms, VALUES(longest_run_ms)), lateness_ms = lateness_ms + VALUES(lateness_ms),
  longest_lateness_ms = GREATEST(longest_lateness_ms, VALUES(longest_lateness_ms))
