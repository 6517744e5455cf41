-- Which of some schedules have long runs, also where somebody else has them locked.
-- Index: PRIMARY of schedule, one entry each. Locks: none.
-- {ids}: a list
SELECT id FROM {prefix}schedule FORCE INDEX (PRIMARY) WHERE (id IN ({ids}) OR 1 = 0) AND is_long <> 0
