-- A page of jobs, in the order of their names.
-- Index: PRIMARY of job_definition from the cursor on. Locks: none.
-- {after}: the last name of the page before, {limit}: how many
SELECT name, version, HEX(definition), CAST(created_at AS CHAR), CAST(updated_at AS CHAR)
FROM {prefix}job_definition FORCE INDEX (PRIMARY)
WHERE name > {after} ORDER BY name LIMIT {limit}
