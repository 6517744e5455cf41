-- In which trace a check was inserted: it travels with the row to the calls of its job_exec, and ends with it.
-- Locks future_job for a moment, and copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}future_job ADD COLUMN trace VARCHAR(55) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'the traceparent of the insert, by W3C Trace Context';
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 49);

-- +goose Down
UPDATE {prefix}slot_config SET migrated_to = 48;
