-- What is to be summed up next: the time, the latest hour that was, the hour whose next look is due, and the first whose sums are in no
-- day. Hours ahead of the clock were summed before it was put back.
-- Index: PRIMARY, next_look_at and day_at of stats_hour, an entry each. Locks: none.
SELECT UTC_TIMESTAMP(6) AS read_at,
  (SELECT start FROM {prefix}stats_hour FORCE INDEX (PRIMARY) WHERE start <= UTC_TIMESTAMP(6) ORDER BY start DESC LIMIT 1) AS latest,
  (SELECT start FROM {prefix}stats_hour FORCE INDEX (next_look_at) WHERE next_look_at <= UTC_TIMESTAMP(6)
    ORDER BY next_look_at LIMIT 1) AS look,
  (SELECT start FROM {prefix}stats_hour FORCE INDEX (day_at) WHERE day_at IS NULL ORDER BY start LIMIT 1) AS undayed
