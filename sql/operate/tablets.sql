-- The tablets that vtgate knows, of all keyspaces, with what each is. vtgate answers it by itself, and asks no shard.
-- Locks: none.
SHOW VITESS_TABLETS
