-- stats_percentiles reads its days and hours at once. Locks and copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
-- +file procedures/stats_percentiles.sql -- only full
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 41);

-- +goose Down
-- +file procedures/stats_percentiles.sql -- only full
UPDATE {prefix}slot_config SET migrated_to = 40;
