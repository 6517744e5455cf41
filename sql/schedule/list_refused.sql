-- A page of schedules that were disabled since they are no good, in the order of their ids.
-- Index: PRIMARY of schedule_refused from the cursor on; PRIMARY of schedule, one entry each. Locks: none.
-- {payload}: payload or NULL, and its length or NULL, {after}: the cursor, {limit}: how many
-- +file schedule/parts/row.sql
FROM {prefix}schedule_refused FORCE INDEX (PRIMARY)
  STRAIGHT_JOIN {prefix}schedule FORCE INDEX (PRIMARY) ON id = schedule_id
WHERE schedule_id > {after} AND disabled_at IS NOT NULL ORDER BY schedule_id LIMIT {limit}
