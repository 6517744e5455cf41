-- The same number as purge.sql asks for, behind its name. MariaDB tells everybody.
-- Index: none, memory. Locks: none.
SHOW GLOBAL STATUS LIKE 'Innodb_history_list_length'
