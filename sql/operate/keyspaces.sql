-- The keyspaces that vtgate knows, whether each is sharded, and what is wrong
-- with its VSchema. vtgate answers it itself: no shard is asked.
-- Locks: none. A session that is targeted at a shard would pass it to MySQL.
SHOW VSCHEMA KEYSPACES
