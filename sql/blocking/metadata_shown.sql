-- Does this server note metadata locks? One row, of whether it does: none, or an error, where it has no performance_schema.
-- Index: none, memory. Locks: none.
SELECT ENABLED = 'YES' FROM performance_schema.setup_instruments WHERE NAME = 'wait/lock/metadata/sql/mdl'
