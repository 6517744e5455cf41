-- Lock a rule that is to be changed.
-- Index: PRIMARY of rule, one entry. Locks: the row, until the change commits: apps read beside it.
-- {name}: which
SELECT version FROM {prefix}rule FORCE INDEX (PRIMARY) WHERE name = {name} FOR UPDATE
