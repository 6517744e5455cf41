-- Write rows of another shard to a table.
-- Locks: the rows.
-- {table}: its name, {columns}: those of the rows, {rows}: ? or a literal for each value
-- what {rows} takes
INSERT INTO {prefix}{table} ({columns}) VALUES {rows}
