-- Of which schedules, which are locked, more versions are kept than stay, and how many.
-- Index: PRIMARY of schedule_version, about as many entries as stay for each. Locks: none.
-- {ids}: a list, {most}: how many stay
SELECT HEX(version.schedule), COUNT(*) AS kept
FROM {prefix}schedule_version version FORCE INDEX (PRIMARY) WHERE (version.schedule IN ({ids}) OR 1 = 0)
  AND version.place IN ({places}) -- only vitess
GROUP BY version.schedule
  , version.place -- only vitess
HAVING kept > {most}
