-- The dialect plain has no procedures: schedules are deleted through the library or the command.
-- Locks the row of slot_config. Copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 17);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 16;
