-- The forecast has turns, of which the newest counts: rows of one that somebody has locked hold up none of the others.
-- Locks and copies nothing: these tables have a few hundred rows.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}forecast MODIFY COLUMN grain ENUM('slot', 'day', 'slot1', 'day1', 'slot2', 'day2', 'slot3', 'day3', 'slot4', 'day4') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'with the turn that it was written in';
ALTER TABLE {prefix}forecast_fit MODIFY COLUMN grain ENUM('slot', 'day', 'slot1', 'day1', 'slot2', 'day2', 'slot3', 'day3', 'slot4', 'day4') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'with the turn that it was written in: the newest made_at counts';
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 42);

-- +goose Down
DELETE FROM {prefix}forecast WHERE grain NOT IN ('slot', 'day');
DELETE FROM {prefix}forecast_fit WHERE grain NOT IN ('slot', 'day');
ALTER TABLE {prefix}forecast MODIFY COLUMN grain ENUM('slot', 'day') CHARACTER SET ascii COLLATE ascii_bin NOT NULL;
ALTER TABLE {prefix}forecast_fit MODIFY COLUMN grain ENUM('slot', 'day') CHARACTER SET ascii COLLATE ascii_bin NOT NULL;
UPDATE {prefix}slot_config SET migrated_to = 41;
