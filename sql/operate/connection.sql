-- Whose is a connection?
-- Index: none, memory. Locks: none.
-- 1: its number
SELECT connection.USER, connection.HOST FROM information_schema.PROCESSLIST connection WHERE connection.ID = ?
