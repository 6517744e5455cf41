-- In which trace an event was put into the outbox: it goes with the event to its broker.
-- Locks the outbox, and what was set aside and published, for a moment each, and copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}event_outbox ADD COLUMN trace VARCHAR(55) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'the traceparent of the event, by W3C Trace Context';
ALTER TABLE {prefix}event_set_aside ADD COLUMN trace VARCHAR(55) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'the traceparent of the event, by W3C Trace Context';
ALTER TABLE {prefix}event_published ADD COLUMN trace VARCHAR(55) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'the traceparent of the event, by W3C Trace Context';
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 51);

-- +goose Down
UPDATE {prefix}slot_config SET migrated_to = 50;
