-- Schedules that were no good are so no longer: they were changed, enabled or deleted.
-- Index: PRIMARY of schedule_refused, one entry each. Locks: the rows.
-- {ids}: a list
DELETE FROM {prefix}schedule_refused WHERE (schedule_id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
