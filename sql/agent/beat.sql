-- Register an agent, or renew its row. All of it is written each time: the row may have been forgotten meanwhile.
-- Index: PRIMARY of agent. Locks: one record, its own.
-- 1: name, 2: instance, 3: host, 4: pid, 5: version, 6: assignment, 7: pools, 8: concurrency, 9: share of it in use, 10: long runs,
-- 11: one-minute load, 12: bytes of memory, 13: its own time, 14: whether it stops, 15: connections
INSERT INTO {prefix}agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, load_1m,
  memory_bytes, clock_ms, stopping, started_at, seen_at, connections)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), ?) DIV 1000, ?,
  UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), ?)
ON DUPLICATE KEY UPDATE busy = VALUES(busy), long_runs = VALUES(long_runs), load_1m = VALUES(load_1m), memory_bytes = VALUES(memory_bytes),
  clock_ms = VALUES(clock_ms), stopping = VALUES(stopping), connections = VALUES(connections), seen_at = VALUES(seen_at)
