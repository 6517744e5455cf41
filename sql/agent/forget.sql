-- Forget agents that have been dead for long.
-- Index: seen_at of agent. Locks: those records.
-- 1: for how many microseconds, 2: the same
DELETE FROM {prefix}agent
WHERE seen_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND (due_at IS NULL OR due_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND)
