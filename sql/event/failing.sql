-- Note why a topic cannot be published to.
-- Index: PRIMARY of event_topic. Locks: its row.
-- 1: the topic, 2: the id of the event, 3: the reason
INSERT INTO {prefix}event_topic (topic, failing_since, failed_at, event_id, reason) VALUES (?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), ?, ?)
ON DUPLICATE KEY UPDATE failed_at = VALUES(failed_at), event_id = VALUES(event_id), reason = VALUES(reason)
