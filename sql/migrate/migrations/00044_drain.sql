-- What operators want of agents. Locks and copies the table of agents, which is small.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}agent ADD COLUMN wanted VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'what operators want of it: drain, to take nothing new; NULL for nothing';
ALTER TABLE {prefix}agent ADD COLUMN wanted_by VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'who wants that';
ALTER TABLE {prefix}agent ADD COLUMN wanted_at DATETIME(6) NULL COMMENT 'UTC: since when';
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE() AND table_name = '{prefix}agent' AND constraint_name = '{prefix}agent_wanted'), -- only full
  'DO 0', 'ALTER TABLE {prefix}agent ADD CONSTRAINT {prefix}agent_wanted CHECK (wanted = ''drain'' AND wanted_at >= TIMESTAMP''1000-01-01 00:00:00'')'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 44);

-- +goose Down
UPDATE {prefix}slot_config SET migrated_to = 43;
