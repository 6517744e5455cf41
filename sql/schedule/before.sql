-- What time is it, and at which version is slot_config, as client/now says in plain; and what was there of schedules that are to be made:
-- those that were deleted, and fired until a time that is later than now by up to a day, of which there are some where the clock was put
-- back since; and, without a time, those that the snapshot of the caller's transaction shows.
-- Index: PRIMARY of slot_config, of schedule_deleted and of schedule, an entry each. Locks: none.
-- {ids}: a list, {now}: the time
SELECT '', CAST(UTC_TIMESTAMP(6) AS CHAR), version FROM {prefix}slot_config WHERE id = 1 -- only full
UNION ALL -- only full
SELECT HEX(id), CAST(fired_until AS CHAR), NULL FROM {prefix}schedule_deleted FORCE INDEX (PRIMARY)
WHERE (id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
  AND fired_until > {now} AND fired_until <= {now} + INTERVAL 1 DAY
UNION ALL
SELECT HEX(id), NULL, NULL FROM {prefix}schedule FORCE INDEX (PRIMARY)
WHERE (id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
