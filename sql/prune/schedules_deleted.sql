-- Forget until when schedules that were deleted have fired.
-- Index: fired_until of schedule_deleted, a range. Locks: the rows.
-- 1: before, 2: limit
DELETE FROM {prefix}schedule_deleted WHERE fired_until < ? ORDER BY fired_until LIMIT ?
