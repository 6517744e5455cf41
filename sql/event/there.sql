-- Which of some events are in the outbox still, and the time.
-- Index: seq of event_outbox, an entry for each. Locks: none.
-- {seqs}: numbers
SELECT seq, UTC_TIMESTAMP(6) AS read_at FROM {prefix}event_outbox FORCE INDEX (seq) WHERE seq IN ({seqs})
