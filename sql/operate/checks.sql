-- Which CHECK constraints has a table? The list in information_schema hides them from a user who only reads, on MariaDB.
-- Locks: none.
-- {table}
SHOW CREATE TABLE {table}
