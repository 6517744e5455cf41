-- resolution_to_s: the resolution that a reslot under way goes to; NULL where none is. While it is set nobody claims,
-- and no client or worker starts. Neither server's ADD COLUMN can be repeated on both, so it is looked for first.
-- Locks slot_config for a moment, once the transactions that have read it are over. Copies its one row.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}slot_config' AND column_name = 'resolution_to_s'),
  'DO 0', 'ALTER TABLE {prefix}slot_config ADD COLUMN resolution_to_s INT UNSIGNED NULL COMMENT ''what a reslot under way goes to'' AFTER resolution_s');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;

-- +goose Down
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}slot_config' AND column_name = 'resolution_to_s'),
  'ALTER TABLE {prefix}slot_config DROP COLUMN resolution_to_s', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
