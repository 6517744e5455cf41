-- Count what was published and set aside.
-- Index: PRIMARY of event_count, a row a topic. Locks: those.
-- {rows}: (slot, topic, published, set aside), …, in the order of the key
INSERT INTO {prefix}event_count (slot, topic, published, set_aside) VALUES {rows}
ON DUPLICATE KEY UPDATE published = published + VALUES(published), set_aside = set_aside + VALUES(set_aside)
