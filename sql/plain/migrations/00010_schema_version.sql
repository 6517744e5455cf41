-- schema_version, as in the full dialect. In the dialect plain the first migration makes the column.
-- Locks the row of slot_config. Copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 10);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 9;
