-- Lock events that are to be settled, and leave out those that somebody else has locked. The dialect plain takes none for locked: events of
-- a topic wait with the one of theirs that is.
-- Index: seq of event_outbox, an entry for each. Locks: the rows, until the statement is over.
-- {seqs}: numbers
SELECT seq FROM {prefix}event_outbox FORCE INDEX (seq) WHERE seq IN ({seqs})
FOR UPDATE SKIP LOCKED -- only full
