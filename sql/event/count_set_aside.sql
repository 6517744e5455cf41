-- How many events that were set aside are those that are asked for, among the first of them.
-- Index: PRIMARY of event_set_aside, a range. Locks: none.
-- 1: after which seq, 2: how many are looked at; {but}: AND topic = … AND id = … AND refused_at <= …
SELECT COUNT(*), COUNT(CASE WHEN seq > 0 {but}THEN 1 END)
FROM (SELECT seq, id, topic, refused_at FROM {prefix}event_set_aside WHERE seq > ? ORDER BY seq LIMIT ?) few
