-- Add the end of a long run to the books of the slot in which it started: to those of its first bucket. No row: they were pruned.
-- Index: PRIMARY of slot_run, one entry. Locks: one record, until the commit.
-- {outcome}: its column
-- 1: slot
UPDATE {prefix}slot_run SET {outcome} = {outcome} + 1 WHERE slot = ? AND bucket = 0
