-- Rollups of history for years, and who makes them. Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/duty.sql
-- +file tables/stats_hour.sql
-- +file tables/stats.sql
-- +file tables/stats_bucket.sql
-- +file tables/stats_reason.sql
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 38);

-- +goose Down
DROP TABLE IF EXISTS {prefix}stats_reason;
DROP TABLE IF EXISTS {prefix}stats_bucket;
DROP TABLE IF EXISTS {prefix}stats;
DROP TABLE IF EXISTS {prefix}stats_hour;
DROP TABLE IF EXISTS {prefix}duty;
UPDATE {prefix}slot_config SET migrated_to = 37;
