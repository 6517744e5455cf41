-- Empty a table of a shard that nobody works on yet, before its rows are copied from another.
-- Index: none, all rows. Locks: these.
-- {table}: its name
DELETE FROM {prefix}{table}
LIMIT 1000000000 -- only vitess
