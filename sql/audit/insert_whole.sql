-- Write entries of the audit into a table that the dialect plain made, which fills nothing in.
-- Index: PRIMARY and stream of audit_log, the new entries. Locks: the new rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}audit_log (at, account, stream, seq, kind, id, verb, version, person, host, program, command, reason,
  before_change, after_change)
VALUES {rows}
