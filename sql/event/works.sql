-- Note that a topic can be published to again.
-- Index: PRIMARY of event_topic. Locks: its row.
-- 1: the topic
DELETE FROM {prefix}event_topic WHERE topic = ?
