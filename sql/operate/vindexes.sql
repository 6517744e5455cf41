-- By which columns and vindexes a table lies, the one that says the shard
-- first; no row of a reference table, and 1146 of one that is in no VSchema.
-- vtgate answers it itself: no shard is asked.
-- Locks: none. A session that is targeted at a shard would pass it to MySQL.
-- {keyspace} and {table} are their names, in backticks.
SHOW VSCHEMA VINDEXES ON {keyspace}.{table}
