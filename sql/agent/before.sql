-- What time is it, when did a timer come before, and for how long was it allowed to be silent then? NULL where it never came.
-- Index: PRIMARY of agent, one entry. Locks: none.
-- 1: name, 2: instance
SELECT UTC_TIMESTAMP(6) AS read_at, TIMESTAMPDIFF(MICROSECOND, known.started_at, UTC_TIMESTAMP(6)) AS since_us,
  TIMESTAMPDIFF(MICROSECOND, known.seen_at, known.due_at) AS silent_us
FROM (SELECT 1 AS one) one LEFT JOIN {prefix}agent known ON known.name = ? AND known.instance = ?
