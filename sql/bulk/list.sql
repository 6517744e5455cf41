-- Bulk runs, the latest first.
-- Index: PRIMARY of bulk_run, so many entries. Locks: none.
-- {columns}: of a bulk run; 1: a number that they are before; 2: how many
SELECT {columns} FROM {prefix}bulk_run WHERE number < ? ORDER BY number DESC LIMIT ?
