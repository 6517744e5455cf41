-- Which columns do the tables have, and what fills them in: a default, or the server, by counting?
-- Index: information_schema. Locks: none.
-- 1: names of the tables, for LIKE
SELECT table_name, column_name, IF(extra LIKE '%auto_increment%', 'auto_increment', column_default)
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name LIKE ?
