-- Count a forwarder no more, nor those that have not been heard of for a minute, or were before the clock was put back.
-- Index: PRIMARY of event_forwarder, a few rows. Locks: those.
-- 1: its name
DELETE FROM {prefix}event_forwarder WHERE name = ? OR seen_until < UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE
  OR seen_until > UTC_TIMESTAMP(6) + INTERVAL 1 HOUR
