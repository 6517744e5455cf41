-- Write entries of the audit. The table fills in when, the id, and by which account.
-- Index: PRIMARY, stream and incarnation of audit_log, the new entries. Locks: the new rows, which nobody else can want.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}audit_log (stream, kind, id, verb, version, incarnation, person, host, program, command, reason,
  before_change, after_change
  , place -- only vitess
)
VALUES {rows}
