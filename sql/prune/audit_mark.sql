-- Mark entries of the audit before which others were pruned.
-- Index: stream of audit_log, one entry each. Locks: the rows.
-- {entries}: conditions on stream and seq
UPDATE {prefix}audit_log FORCE INDEX (stream) SET pruned = 1 WHERE {entries}
