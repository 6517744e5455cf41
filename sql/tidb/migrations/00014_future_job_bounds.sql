-- The checks of what plain SQL inserts: TiDB has none, and no plain SQL inserts there.

-- +goose NO TRANSACTION
-- +goose Up
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 14);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 13;
