-- The dialect plain has no CHECKs and no expression as a default: the client alone holds events to their bounds, and event_outbox.seq stays
-- an AUTO_INCREMENT, which a row at its end uses up. event_set_aside.seq is a number of its own, as in the full dialect.
-- Locks the row of slot_config. Copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 25);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 24;
