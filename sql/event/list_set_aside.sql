-- Events that were set aside, the first of them first.
-- Index: PRIMARY of event_set_aside, a range. Locks: none.
-- 1: after which seq, 2: limit; {bytes}: the length of the payload, or 0, {but}: AND topic = … AND id = …
SELECT seq, id, topic, event_key, generated_at, inserted_at, refused_at, {bytes} AS bytes, reason
FROM {prefix}event_set_aside WHERE seq > ? {but}ORDER BY seq LIMIT ?
