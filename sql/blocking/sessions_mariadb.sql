-- What do some sessions do? MariaDB's, which does not say what one that idles sent last. The right is PROCESS.
-- Index: none, memory. Locks: none.
-- {ids}: the numbers of their connections
SELECT connection.ID, COALESCE(connection.USER, ''), COALESCE(connection.HOST, ''), COALESCE(connection.DB, ''),
       COALESCE(connection.COMMAND, ''), COALESCE(connection.STATE, ''), COALESCE(connection.TIME, 0),
       COALESCE(LEFT(connection.INFO, 1000), ''), ''
FROM information_schema.PROCESSLIST connection
WHERE connection.ID IN ({ids})
