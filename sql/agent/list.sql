-- List agents, those of one name together.
-- Index: PRIMARY of agent, in its order. Locks: none.
-- 1: how many at most
SELECT name, instance, kind, host, pid, version, assignment, pools, concurrency, busy, long_runs, load_1m, memory_bytes, clock_ms,
  connections, stopping, COALESCE(wanted = 'drain', FALSE) AS drain, COALESCE(wanted_by, '') AS wanted_by, wanted_at,
  started_at, seen_at, due_at, TIMESTAMPDIFF(MICROSECOND, seen_at, UTC_TIMESTAMP(6)) AS silent_us,
  TIMESTAMPDIFF(MICROSECOND, due_at, UTC_TIMESTAMP(6)) AS late_us
FROM {prefix}agent
ORDER BY name, instance
LIMIT ?
