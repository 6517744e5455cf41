-- How some rules stand, for the slot run of their checks.
-- Index: PRIMARY of rule, one entry each. Locks: none.
-- {names}: a list
SELECT name, version, state, CAST(since AS CHAR), moved_to, ended_to FROM {prefix}rule FORCE INDEX (PRIMARY) WHERE name IN ({names})
