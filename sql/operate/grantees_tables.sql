-- Which accounts have rights on tables of this database, on columns of them, or on all of it? The right is SELECT ON mysql.*.
-- Index: none; some rows for each account. Locks: none.
SELECT User, Host FROM mysql.tables_priv WHERE Db = DATABASE()
UNION SELECT User, Host FROM mysql.columns_priv WHERE Db = DATABASE()
UNION SELECT User, Host FROM mysql.db WHERE DATABASE() LIKE Db
LIMIT 201
