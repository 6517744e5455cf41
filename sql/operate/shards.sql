-- The shards that vtgate knows, of all keyspaces, such as shop/-80. vtgate answers it from the topology, and asks no shard.
-- Locks: none.
SHOW VITESS_SHARDS
