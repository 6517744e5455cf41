-- Bulk runs. Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/bulk_run.sql
-- +file tables/bulk_check.sql
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 45);

-- +goose Down
DROP TABLE IF EXISTS {prefix}bulk_check;
DROP TABLE IF EXISTS {prefix}bulk_run;
UPDATE {prefix}slot_config SET migrated_to = 44;
