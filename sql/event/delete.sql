-- Delete events that the broker has acknowledged, or that were set aside.
-- Index: seq of event_outbox, an entry for each. Locks: the rows.
-- {seqs}: numbers
DELETE one FROM ({prefix}event_outbox one FORCE INDEX (seq)) -- only full
DELETE one FROM {prefix}event_outbox one FORCE INDEX (seq) -- only plain
WHERE one.seq IN ({seqs})
