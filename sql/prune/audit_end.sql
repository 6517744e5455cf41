-- Delete old entries of the audit.
-- Index: PRIMARY of audit_log, one entry each. Locks: the rows.
-- {entries}: a list of (at, entry)
DELETE old FROM {prefix}audit_log old FORCE INDEX (PRIMARY) WHERE {entries}
