-- The dialect plain has no CHECKs: the client and the command hold what they insert to the same bounds.

-- +goose NO TRANSACTION
-- +goose Up
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 14);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 13;
