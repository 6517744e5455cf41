-- Lock a rule, and say whether it was deleted long ago still: it may have been made anew meanwhile.
-- Index: PRIMARY of rule, one entry. Locks: the row.
-- {name}: which, 1: before
SELECT state = 'deleted' AND updated_at < ? FROM {prefix}rule FORCE INDEX (PRIMARY) WHERE name = {name} FOR UPDATE
