-- Write entries of the audit into a table that the dialect plain made, which fills nothing in.
-- Index: PRIMARY, stream and incarnation of audit_log, the new entries. Locks: the new rows, which nobody else can want.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}audit_log (at, account, entry, stream, kind, id, verb, version, incarnation, person, host, program, command, reason,
  before_change, after_change
  , place -- only vitess
)
VALUES {rows}
