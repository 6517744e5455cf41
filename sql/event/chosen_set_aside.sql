-- Lock events that were set aside and are to be sent again or dropped, and see what they are.
-- Index: PRIMARY of event_set_aside, a row for each. Locks: those.
-- {seqs}: numbers
SELECT seq, HEX(id), topic, HEX(event_key), COALESCE(LENGTH(payload), 0), HEX(reason)
FROM {prefix}event_set_aside WHERE seq IN ({seqs}) ORDER BY seq FOR UPDATE
