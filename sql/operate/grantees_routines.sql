-- Which accounts have rights on procedures of this database? The right is SELECT ON mysql.*.
-- Index: none; some rows for each account. Locks: none.
SELECT DISTINCT User, Host FROM mysql.procs_priv WHERE Db = DATABASE() LIMIT 201
