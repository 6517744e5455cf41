-- As the full one, refused at once where somebody else has one of them locked.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows.
-- {ids}: a list
SELECT id FROM {prefix}schedule FORCE INDEX (PRIMARY) WHERE (id IN ({ids}) OR 1 = 0) ORDER BY id FOR UPDATE NOWAIT
