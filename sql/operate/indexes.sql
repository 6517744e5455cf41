-- Which indexes do the tables have?
-- Index: information_schema. Locks: none.
-- 1: names of the tables, for LIKE
SELECT DISTINCT table_name, index_name, NULL FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name LIKE ?
