-- Hours that are summed up, from a time on, and how many ends their lines have.
-- Index: PRIMARY of stats_hour, a range; PRIMARY of stats, a range for each hour. Locks: none.
-- 1: from, 2: before, 3: limit
SELECT start, ends, COALESCE((SELECT SUM(of_hour.ends) FROM {prefix}stats of_hour FORCE INDEX (PRIMARY)
  WHERE of_hour.grain = 'hour' AND of_hour.start = hours.start), 0) AS line_ends
FROM {prefix}stats_hour hours FORCE INDEX (PRIMARY) WHERE start >= ? AND start < ? ORDER BY start LIMIT ?
