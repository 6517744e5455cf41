-- Cancel what is pending for an entity, all of it or what one job_exec does, by the procedure. One row comes
-- back: how many it cancelled. It refuses the entity schedule: schedules are deleted by their own commands.
-- Index: job_key of future_job, the entity's range; then PRIMARY, one entry each. Locks: those rows; in a transaction of the
-- caller also the entity's gaps, under REPEATABLE READ.
-- {entity_name}, {entity_key}, {job_exec}: text; NULL for all job_execs
CALL {prefix}cancel({entity_name}, {entity_key}, {job_exec})
