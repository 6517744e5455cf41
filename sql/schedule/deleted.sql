-- Note until when schedules that are deleted have fired. One from long ahead, by a clock that has been put back since, gives way.
-- Index: PRIMARY and fired_until of schedule_deleted, the entries. Locks: the rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}schedule_deleted (id, fired_until
  , place -- only vitess
) VALUES {rows} ON DUPLICATE KEY UPDATE
  fired_until = IF(fired_until > VALUES(fired_until) + INTERVAL 1 DAY, VALUES(fired_until), GREATEST(fired_until, VALUES(fired_until)))
