-- Count a forwarder no more, nor those that have not been heard of for a minute.
-- Index: PRIMARY of event_forwarder, a few rows. Locks: those.
-- 1: its name
DELETE FROM {prefix}event_forwarder WHERE name = ? OR seen_until < UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE
