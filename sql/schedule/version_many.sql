-- Of which schedules, which are locked, more versions are kept than stay, and how many.
-- Index: PRIMARY of schedule, one entry each; PRIMARY of schedule_version, about as many entries as stay for each. Locks: none.
-- {ids}: a list, {most}: how many stay
SELECT HEX(one.id), (SELECT COUNT(*) FROM {prefix}schedule_version version FORCE INDEX (PRIMARY) WHERE version.schedule = one.id) AS kept
FROM {prefix}schedule one FORCE INDEX (PRIMARY) WHERE one.id IN ({ids}) OR 1 = 0 HAVING kept > {most}
