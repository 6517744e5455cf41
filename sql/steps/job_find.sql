-- Jobs by their names, in the order of these. {lock} is empty, or FOR UPDATE where they are to be changed. Text comes in hexadecimal and
-- times as text, since this runs on the app's connection, whose settings are its own.
-- Index: PRIMARY of job_definition, one entry each. Locks: none, or the rows.
-- {names}: a list
SELECT name, version, HEX(definition), CAST(created_at AS CHAR), CAST(updated_at AS CHAR)
FROM {prefix}job_definition FORCE INDEX (PRIMARY)
WHERE (name IN ({names}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
ORDER BY name {lock}
