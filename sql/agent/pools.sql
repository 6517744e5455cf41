-- How many long runs of each pool agents have, how many wait for one, and for how long the first of them: among the first that did not end.
-- Those wait that were offered, handed on or put off, or that have lapsed; not those that wait for the run before them.
-- Index: ended_at of long_run, the limit's entries. Locks: none.
-- 1: limit
SELECT pool, SUM(1 - waits) AS running, SUM(waits) AS waiting,
  COALESCE(GREATEST(MAX(IF(waits, TIMESTAMPDIFF(MICROSECOND, allocated_until, UTC_TIMESTAMP(6)), 0)), 0), 0) AS oldest_us
FROM (SELECT pool, allocated_until, agent = '' OR {free allocated_until} AS waits
      FROM {prefix}long_run FORCE INDEX (ended_at) WHERE ended_at IS NULL LIMIT ?) few
WHERE allocated_until IS NOT NULL
GROUP BY pool
