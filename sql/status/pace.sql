-- What became of the checks of some slots in the buckets that are under way or ended lately, and since when these were run?
-- Index: PRIMARY of slot_run, the span's entries, at most the limit's. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit, 4: what ended before does not count
SELECT COALESCE(CAST(SUM(moved + put_off + done + max_checks + past_return + beyond_horizon + failed + timed_out + crashed
  + expired + missed + too_soon + overlapped + quota) AS SIGNED), 0) AS settled, MIN(started_at) AS since
FROM (SELECT * FROM {prefix}slot_run FORCE INDEX (PRIMARY) WHERE slot >= ? AND slot < ? ORDER BY slot, bucket LIMIT ?) some
WHERE started_at IS NOT NULL AND (finished_at IS NULL OR finished_at >= ?)
