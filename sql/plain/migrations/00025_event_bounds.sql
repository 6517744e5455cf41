-- The dialect plain has no CHECKs and no expression as a default: the client alone holds events to their bounds, and event_outbox.seq stays
-- an AUTO_INCREMENT. Only the comment of event_set_aside.seq changes, as in the full dialect.
-- Copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}event_set_aside MODIFY seq BIGINT UNSIGNED NOT NULL COMMENT 'its number here: not that of event_outbox';
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 25);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 24;
