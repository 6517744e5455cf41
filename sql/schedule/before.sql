-- What was there of schedules that are to be made: those that were deleted, and fired until a time that is later than now by up to a day,
-- of which there are some where the clock was put back since; and, with NULL, those that the snapshot of the caller's transaction shows.
-- Index: PRIMARY of schedule_deleted and of schedule, an entry each. Locks: none.
-- {ids}: a list, {now}: the time
SELECT HEX(id), CAST(fired_until AS CHAR) FROM {prefix}schedule_deleted FORCE INDEX (PRIMARY)
WHERE (id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
  AND fired_until > {now} AND fired_until <= {now} + INTERVAL 1 DAY
UNION ALL
SELECT HEX(id), NULL FROM {prefix}schedule FORCE INDEX (PRIMARY)
WHERE (id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
