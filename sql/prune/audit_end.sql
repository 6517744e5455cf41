-- Delete old entries of the audit.
-- Index: stream of audit_log, a range for each stream. Locks: the rows.
-- {ranges}: conditions on stream and seq
DELETE entry FROM {prefix}audit_log entry FORCE INDEX (stream) WHERE {ranges}
