-- Does the server have Amazon's procedure that ends a session in place of KILL? It shows to whom may call it.
-- Index: none, memory. Locks: none.
SELECT COUNT(*) FROM information_schema.ROUTINES routine WHERE routine.ROUTINE_SCHEMA = 'mysql' AND routine.ROUTINE_NAME = 'rds_kill'
