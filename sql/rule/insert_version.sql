-- Keep what a version of a rule says.
-- Index: PRIMARY of rule_version, the new entry. Locks: the new row.
-- {row}: (…) in the order of the columns
INSERT INTO {prefix}rule_version (rule, version, created_at, state, delay, spread, expires_after, on_pending, ends, payload,
  max_checks, max_errors)
VALUES {row}
