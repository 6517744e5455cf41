-- Which of some slots have unfinished buckets, and whether one of those is free: given back by a worker that stopped, or of a lease
-- that has lapsed.
-- Index: PRIMARY of slot_run, a range a slot. Locks: none.
-- {slots}: ? for each of those
-- what {slots} takes
SELECT slot, MAX({free allocated_until}) AS free
FROM {prefix}slot_run WHERE slot IN ({slots}) AND finished_at IS NULL GROUP BY slot
