-- The owner: migrate, prune and what else alters the tables, and what all others do. Tables that are yet to be made cannot be
-- named, so this is for the whole database. With PROCESS ON *.* and SELECT ON performance_schema.* beside it, which are for the
-- whole server, prune can say who holds history open.
-- The procedures run with the rights of whoever migrated: keep that account. -- only full
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON {database_pattern}.* TO {account}; -- only full
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, SHOW VIEW ON {database_pattern}.* TO {account}; -- only plain
