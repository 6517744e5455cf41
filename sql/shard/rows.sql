-- A page of the rows of a table, whole, in their order: its first two columns tell each from the others.
-- Index: none; each page reads those before it, of a table that people fill. Locks: none.
-- {table}: its name
-- 1: limit, 2: offset
SELECT * FROM {prefix}{table} ORDER BY 1, 2 LIMIT ? OFFSET ?
