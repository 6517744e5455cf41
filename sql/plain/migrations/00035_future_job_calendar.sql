-- The dialect plain has no CHECKs: the client and the command insert no such times, and the resolution cannot be changed.
-- Locks the row of slot_config. Copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 35);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 34;
