-- Schedules that were deleted long ago, and whether there is one of the id again.
-- Index: fired_until of schedule_deleted, a range; PRIMARY of schedule, one entry each. Locks: none.
-- 1: before, 2: limit
SELECT HEX(gone.id), EXISTS (SELECT 1 FROM {prefix}schedule one FORCE INDEX (PRIMARY) WHERE one.id = gone.id)
FROM {prefix}schedule_deleted gone FORCE INDEX (fired_until) WHERE gone.fired_until < ? ORDER BY gone.fired_until LIMIT ?
