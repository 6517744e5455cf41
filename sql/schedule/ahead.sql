-- How far local time is ahead of UTC at what the timers of schedules wait for, where that is another than before.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows.
-- {ahead}: WHEN … THEN …, {ids}: a list
UPDATE {prefix}schedule FORCE INDEX (PRIMARY) SET utc_offset = CASE id{ahead} END WHERE id IN ({ids}) OR 1 = 0
