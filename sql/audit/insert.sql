-- Write entries of the audit. The table fills in when, and by which account.
-- Index: PRIMARY and stream of audit_log, the new entries. Locks: the new rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}audit_log (stream, seq, kind, id, verb, version, person, host, program, command, reason, before_change, after_change)
VALUES {rows}
