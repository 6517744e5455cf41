-- Which of some slots have unfinished buckets, and whether one of those is free: given back by a worker that stopped, or of a lease
-- that has lapsed. No lease lives that ends more than an hour ahead, the longest there is.
-- Index: PRIMARY of slot_run, a range a slot. Locks: none.
-- {slots}: ? for each of those
-- what {slots} takes
SELECT slot, MAX(allocated_until IS NULL OR allocated_until < UTC_TIMESTAMP(6)
                 OR allocated_until > UTC_TIMESTAMP(6) + INTERVAL 1 HOUR) AS free
FROM {prefix}slot_run WHERE slot IN ({slots}) AND finished_at IS NULL GROUP BY slot
