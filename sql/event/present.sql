-- Count a forwarder among those that are alive.
-- Index: PRIMARY of event_forwarder. Locks: its row.
-- 1: its name, 2: for how many microseconds
INSERT INTO {prefix}event_forwarder (name, seen_until) VALUES (?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)
ON DUPLICATE KEY UPDATE seen_until = VALUES(seen_until)
