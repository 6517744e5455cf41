-- Rules whose checks do not all follow their last change yet.
-- Index: PRIMARY of rule, all of it: there are some dozens. Locks: none.
SELECT name FROM {prefix}rule FORCE INDEX (PRIMARY) WHERE walked_to < GREATEST(moved_to, ended_to) ORDER BY updated_at LIMIT 100
