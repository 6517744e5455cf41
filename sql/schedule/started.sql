-- Long runs of schedules have started.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows, held already.
-- {at}: when, {ids}: a list
UPDATE {prefix}schedule FORCE INDEX (PRIMARY) SET last_started_at = {at} WHERE id IN ({ids}) OR 1 = 0
