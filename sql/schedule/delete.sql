-- Delete schedules.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows, held already.
-- {ids}: a list
DELETE FROM {prefix}schedule WHERE (id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
