-- Note that topics can be published to again.
-- Index: PRIMARY of event_topic, a row a topic. Locks: those.
-- {topics}: the topics, in the order of the key
DELETE FROM {prefix}event_topic WHERE topic IN ({topics})
