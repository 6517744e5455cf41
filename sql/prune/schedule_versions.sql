-- Forget the versions of schedules that are gone.
-- Index: PRIMARY of schedule_version, a range each. Locks: the rows.
-- {ids}: a list
DELETE FROM {prefix}schedule_version WHERE schedule IN ({ids}) OR 1 = 0
