-- Schedules that were disabled since they are no good, the first by their ids.
-- Index: PRIMARY of schedule_refused, at most the limit's entries; PRIMARY of schedule, one entry each. Locks: none.
-- 1: limit
SELECT one.id AS id, COALESCE(one.disabled_reason, '') AS reason
FROM {prefix}schedule_refused refused FORCE INDEX (PRIMARY)
  STRAIGHT_JOIN {prefix}schedule one FORCE INDEX (PRIMARY) ON one.id = refused.schedule_id
WHERE one.disabled_at IS NOT NULL ORDER BY refused.schedule_id LIMIT ?
