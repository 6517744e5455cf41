-- Is there more than a look reads?
-- Index: the one that the look goes by, one entry more than it reads. Locks: none.
-- {table}, {index}: which, {where}: a condition, or nothing; its parameters, and then 1: how many entries the look reads
SELECT COUNT(*) FROM (SELECT 1 FROM {prefix}{table} FORCE INDEX ({index}) {where} LIMIT 1 OFFSET ?) beyond
