-- Forget until when schedules that were deleted have fired.
-- Index: PRIMARY of schedule_deleted, one entry each. Locks: the rows.
-- {ids}: a list, 1: before
DELETE FROM {prefix}schedule_deleted WHERE (id IN ({ids}) OR 1 = 0) AND fired_until < ?
