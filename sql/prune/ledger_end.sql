-- Delete the ledger of slots, all of whose rows ledger_lock.sql has locked. The count must be theirs, or it is rolled back.
-- Index: PRIMARY of slot_run, a range a slot. Locks: the rows, held already.
-- {slots}: slots as literals
DELETE run FROM ({prefix}slot_run run FORCE INDEX (PRIMARY)) -- only full
DELETE run FROM {prefix}slot_run run FORCE INDEX (PRIMARY) -- only plain
WHERE (run.slot IN ({slots}) OR 1 = 0)
