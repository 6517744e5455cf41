-- As before.sql for schedules that were deleted, whatever the snapshot of the caller's transaction shows.
-- Index: PRIMARY of schedule_deleted, an entry each. Locks: the rows.
-- {ids}: a list, {now}: the time
SELECT HEX(id), CAST(fired_until AS CHAR), NULL FROM {prefix}schedule_deleted FORCE INDEX (PRIMARY)
WHERE (id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
  AND fired_until > {now} AND fired_until <= {now} + INTERVAL 1 DAY LOCK IN SHARE MODE
