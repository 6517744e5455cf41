-- As the full one, and takes none for locked: events of a topic wait with the one of theirs that is.
-- Index: seq of event_outbox, an entry for each. Locks: none.
-- {seqs}: numbers
SELECT seq FROM {prefix}event_outbox FORCE INDEX (seq) WHERE seq IN ({seqs})
