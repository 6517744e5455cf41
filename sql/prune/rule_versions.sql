-- Delete what a rule said that is locked. Its own row stays, so that no version ever says two things: processes remember them.
-- Index: PRIMARY of rule_version, a range. Locks: the rows.
-- {name}: of the rule
DELETE FROM {prefix}rule_version WHERE rule = {name}
