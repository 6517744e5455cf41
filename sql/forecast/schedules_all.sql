-- How many schedules the optimiser takes the table to have. It reads no row.
-- Index: PRIMARY of schedule. Locks: none.
EXPLAIN FORMAT=TRADITIONAL SELECT id FROM {prefix}schedule FORCE INDEX (PRIMARY) ORDER BY id
