-- Shared steps by their names, in the order of these. {lock} is empty, LOCK IN SHARE MODE for a job that is to have them, or FOR UPDATE
-- where they are to be changed.
-- Index: PRIMARY of step_definition, one entry each. Locks: none, or the rows.
-- {names}: a list
SELECT name, version, HEX(definition), CAST(created_at AS CHAR), CAST(updated_at AS CHAR)
FROM {prefix}step_definition FORCE INDEX (PRIMARY)
WHERE (name IN ({names}) OR 1 = 0) ORDER BY name {lock}
