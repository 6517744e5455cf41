-- The owner: migrate and prune, and what all others do. Tables that are yet to be made cannot be named, so this is for the
-- whole database. With PROCESS ON *.* and SELECT ON performance_schema.* beside it, which are for the whole server, prune
-- can say who holds history open.
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, SHOW VIEW ON {database_pattern}.* TO {account};
