-- The dialect plain has no CHECKs: the client and the command hold what they insert to the same bounds.
-- Locks the row of slot_config. Copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 34);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 33;
