-- The dialect plain has no procedures: an app in another language reads the rows themselves.
-- Locks the row of slot_config. Copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 32);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 31;
