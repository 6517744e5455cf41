-- What time is it by the database's clock?
-- Index: none, it reads no table. Locks: none.
SELECT UTC_TIMESTAMP(6)
