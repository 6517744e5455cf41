-- What the rows of schedules keep of their timers' calls: that occurrences were passed over, how many a catch-up has fired that
-- goes on, and that the timer of a schedule which plain SQL inserted has taken its place. A count of none takes no room.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows.
-- {passed}, {caught}: WHEN … THEN …, {ids}: a list
UPDATE {prefix}schedule FORCE INDEX (PRIMARY)
SET version = GREATEST(version, 1),
  passed_over = NULLIF(LEAST(COALESCE(passed_over, 0) + CASE id WHEN '' THEN 0 {passed} ELSE 0 END, 4294967295), 0),
  caught_up = NULLIF(CASE id WHEN '' THEN 0 {caught} ELSE 0 END, 0)
WHERE id IN ({ids}) OR 1 = 0
