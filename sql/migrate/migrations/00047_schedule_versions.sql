-- What schedules were before they were changed. Locks and copies nothing: the table is new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/schedule_version.sql
-- +file procedures/delete_schedules.sql -- only full
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 47);

-- +goose Down
-- +file procedures/delete_schedules.sql -- only full
DROP TABLE IF EXISTS {prefix}schedule_version;
UPDATE {prefix}slot_config SET migrated_to = 46;
