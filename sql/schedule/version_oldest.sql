-- The oldest versions of a schedule.
-- Index: PRIMARY of schedule_version, as many entries. Locks: none.
-- {id}: of the schedule, {limit}: how many
SELECT CAST(created_at AS CHAR), version FROM {prefix}schedule_version FORCE INDEX (PRIMARY)
WHERE schedule = {id}
  AND place IN ({places}) -- only vitess
ORDER BY created_at, version LIMIT {limit}
