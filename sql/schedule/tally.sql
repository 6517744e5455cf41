-- What the rows of schedules keep of their timers' calls: that occurrences were passed over, how many a catch-up has fired that
-- goes on, and that the timer of a schedule which plain SQL inserted has taken its place.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows.
-- {passed}, {caught}: WHEN … THEN …, {ids}: a list
UPDATE {prefix}schedule FORCE INDEX (PRIMARY)
SET version = GREATEST(version, 1), passed_over = passed_over + CASE id WHEN '' THEN 0 {passed} ELSE 0 END,
  caught_up = CASE id WHEN '' THEN 0 {caught} ELSE 0 END
WHERE id IN ({ids}) OR 1 = 0
