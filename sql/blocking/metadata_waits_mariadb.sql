-- Which sessions of this database wait for a metadata lock, where MariaDB does not say who has it? The right is PROCESS.
-- Index: none, memory. Locks: none.
SELECT connection.ID FROM information_schema.PROCESSLIST connection
WHERE connection.DB = DATABASE() AND connection.STATE LIKE 'Waiting for %metadata lock' LIMIT 1000
