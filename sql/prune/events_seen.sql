-- Forget which events consumers have worked on.
-- Index: seen_at of event_seen, a range. Locks: the rows.
-- 1: before, 2: limit
DELETE FROM {prefix}event_seen WHERE seen_at < ? ORDER BY seen_at LIMIT ?
