-- Note why topics cannot be published to.
-- Index: PRIMARY of event_topic, a row a topic. Locks: those.
-- {rows}: (topic, now, now, the id of the event, the reason), …, in the order of the key
INSERT INTO {prefix}event_topic (topic, failing_since, failed_at, event_id, reason) VALUES {rows}
ON DUPLICATE KEY UPDATE failed_at = VALUES(failed_at), event_id = VALUES(event_id), reason = VALUES(reason)
