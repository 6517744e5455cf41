-- Delete old entries of the audit: one look-up an entry, whatever the optimizer thinks of scanning so small a table, so that it never waits
-- for an entry that somebody is writing.
-- Index: PRIMARY of audit_log, one entry each. Locks: the rows.
-- {entries}: a list of SELECT at, entry joined by UNION ALL
DELETE old FROM ({entries}) ended
  STRAIGHT_JOIN {prefix}audit_log old FORCE INDEX (PRIMARY) ON old.at = ended.at AND old.entry = ended.entry
