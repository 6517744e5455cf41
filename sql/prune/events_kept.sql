-- Is anything in event_published?
-- Index: PRIMARY of event_published, at most an entry of each partition. Locks: none.
SELECT EXISTS (SELECT 1 FROM {prefix}event_published LIMIT 1)
