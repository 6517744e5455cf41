-- Which columns do the tables have?
-- Index: information_schema. Locks: none.
-- 1: names of the tables, for LIKE
SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name LIKE ?
