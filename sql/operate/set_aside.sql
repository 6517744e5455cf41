-- The ids of events that were set aside, the first of them.
-- Index: PRIMARY of event_set_aside, up to the limit. Locks: none.
-- 1: limit
SELECT id FROM {prefix}event_set_aside ORDER BY seq LIMIT ?
