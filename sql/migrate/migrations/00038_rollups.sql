-- What one process does at a time. Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/duty.sql
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 38);

-- +goose Down
DROP TABLE IF EXISTS {prefix}duty;
UPDATE {prefix}slot_config SET migrated_to = 37;
