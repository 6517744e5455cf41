-- Delete events that were set aside.
-- Index: PRIMARY of event_set_aside, a row for each. Locks: those.
-- {seqs}: numbers
DELETE FROM {prefix}event_set_aside WHERE seq IN ({seqs})
