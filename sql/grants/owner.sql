-- The owner: migrate, prune and reslot, and what all others do. Tables that are yet to be made cannot be named, so this is
-- for the whole database. The procedure runs with the rights of whoever migrated: keep that account. With
-- PROCESS ON *.* and SELECT ON performance_schema.* beside it, which are for the whole server, prune can say who holds
-- history open.
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON {database_pattern}.* TO {account};
