-- The buckets of a slot: who holds what, for how long, and how far it is.
-- Index: PRIMARY of slot_run, a range. Locks: none.
-- 1: slot
SELECT bucket, buckets, token, batch_seq, worker, takeovers, attempt_key, attempt_revision,
       finished_at IS NOT NULL AS finished, allocated_until IS NOT NULL AS allocated,
       IF({lives allocated_until}, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), allocated_until), 0) AS held_us,
       moved + put_off + done + max_checks + past_return + beyond_horizon + failed + timed_out + crashed
         + expired + missed + too_soon + overlapped + quota + dropped AS written
FROM {prefix}slot_run WHERE slot = ? ORDER BY bucket
