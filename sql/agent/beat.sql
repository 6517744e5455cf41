-- Register an agent, or renew its row. All of it is written each time: the row may have been forgotten meanwhile, and that of a timer
-- is one process's after the other. What is wanted of the agent comes back as the id that was inserted last, without another round
-- trip: 2 to drain, else 0 or 1.
-- Index: PRIMARY of agent. Locks: one record, its own.
-- 1: name, 2: instance, 3: kind, 4: host, 5: pid, 6: version, 7: assignment, 8: pools, 9: concurrency, 10: share of it in use,
-- 11: long runs, 12: one-minute load, 13: bytes of memory, 14: its own time, 15: whether it stops, 16: for how many microseconds the
-- process has been there, 17: connections, 18: by when a timer is to be heard of again, NULL for what stays up
INSERT INTO {prefix}agent (name, instance, kind, host, pid, version, assignment, pools, concurrency, busy, long_runs, load_1m,
  memory_bytes, clock_ms, stopping, started_at, seen_at, connections, due_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), ?) DIV 1000, ?,
  UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6), ?, ?)
ON DUPLICATE KEY UPDATE pid = IF(LAST_INSERT_ID(IF(wanted = 'drain', 2, 1)) > 0, VALUES(pid), NULL),
  started_at = IF(due_at IS NULL, started_at, VALUES(started_at)), host = VALUES(host),
  version = VALUES(version), concurrency = VALUES(concurrency), busy = VALUES(busy), long_runs = VALUES(long_runs),
  load_1m = VALUES(load_1m), memory_bytes = VALUES(memory_bytes), clock_ms = VALUES(clock_ms), stopping = VALUES(stopping),
  connections = VALUES(connections), seen_at = VALUES(seen_at), due_at = VALUES(due_at)
