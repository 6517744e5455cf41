-- Which of some events are in the outbox still.
-- Index: seq of event_outbox, an entry for each. Locks: none.
-- {seqs}: numbers
SELECT seq FROM {prefix}event_outbox FORCE INDEX (seq) WHERE seq IN ({seqs})
