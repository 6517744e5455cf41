-- How far local time is ahead of UTC at the occurrences that the timers of schedules wait for: of those for which it is another than before.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows.
-- {ahead}: WHEN … THEN …, {ids}: a list
UPDATE {prefix}schedule FORCE INDEX (PRIMARY) SET utc_offset = CASE id{ahead} END WHERE id IN ({ids}) OR 1 = 0
