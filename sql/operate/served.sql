-- Which slots have rows in the ledger since a time, and was one of these run by more than what comes late, a sweep or a
-- roll-forward? In no order.
-- Index: PRIMARY of slot_run, a range, which it skips from slot to slot; of each, the entries up to the first that tells. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit
SELECT there.slot, EXISTS (SELECT 1 FROM {prefix}slot_run run
                           WHERE run.slot = there.slot AND run.run_by NOT IN ('sweep', 'roll-forward')) AS in_time
FROM (SELECT DISTINCT slot FROM {prefix}slot_run WHERE slot >= ? AND slot < ? ORDER BY slot LIMIT ?) there
