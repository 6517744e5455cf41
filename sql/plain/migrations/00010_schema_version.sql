-- schema_version, as in the full dialect. In the dialect plain the first migration makes the column.

-- +goose NO TRANSACTION
-- +goose Up
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 10);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 9;
