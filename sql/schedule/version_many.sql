-- Of which schedules, which are locked, more versions are kept than stay, and how many. Vitess counts
-- by groups alone, and MariaDB sorts the group of one.
-- Index: PRIMARY of schedule, one entry each; PRIMARY of schedule_version, about as many entries as stay for each. Locks: none.
-- {ids}: a list, {most}: how many stay
SELECT HEX(one.id), -- only full
  (SELECT COUNT(*) FROM {prefix}schedule_version version FORCE INDEX (PRIMARY) WHERE version.schedule = one.id) AS kept -- only full
FROM {prefix}schedule one FORCE INDEX (PRIMARY) WHERE (one.id IN ({ids}) OR 1 = 0) -- only full
SELECT HEX(one.schedule), COUNT(*) AS kept -- only plain
FROM {prefix}schedule_version one FORCE INDEX (PRIMARY) WHERE (one.schedule IN ({ids}) OR 1 = 0) -- only plain
  AND one.place IN ({places}) -- only vitess
GROUP BY one.schedule -- only plain
  , one.place -- only plain vitess
HAVING kept > {most}
