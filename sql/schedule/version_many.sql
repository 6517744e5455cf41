-- Of which schedules more versions are kept than stay, and how many.
-- Index: PRIMARY of schedule_version, a range of about as many entries as stay for each. Locks: none.
-- {ids}: a list, {most}: how many stay
SELECT HEX(schedule), COUNT(*) FROM {prefix}schedule_version FORCE INDEX (PRIMARY)
WHERE schedule IN ({ids}) OR 1 = 0 GROUP BY schedule HAVING COUNT(*) > {most}
