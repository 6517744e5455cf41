-- Lock schedules that are to be written to. Those that somebody else has locked are left out.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows.
-- {ids}: a list
SELECT id FROM {prefix}schedule FORCE INDEX (PRIMARY) WHERE (id IN ({ids}) OR 1 = 0) ORDER BY id FOR UPDATE SKIP LOCKED
