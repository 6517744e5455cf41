-- A bulk run.
-- Index: PRIMARY of bulk_run, one entry. Locks: none.
-- {columns}: of a bulk run; 1: its number
SELECT {columns} FROM {prefix}bulk_run WHERE number = ?
