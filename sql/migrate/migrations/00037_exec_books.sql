-- The books by job_exec. Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/exec_run.sql
-- +file tables/exec_known.sql
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 37);

-- +goose Down
DROP TABLE IF EXISTS {prefix}exec_known;
DROP TABLE IF EXISTS {prefix}exec_run;
UPDATE {prefix}slot_config SET migrated_to = 36;
