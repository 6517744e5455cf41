-- Rollups of history for years, and who makes them. Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/duty.sql
-- +file tables/stats_hour.sql
-- +file tables/stats.sql
-- +file tables/stats_bucket.sql
-- +file tables/stats_reason.sql
-- +file views/stats_outcomes.sql
-- +file views/stats_reasons.sql
-- +file views/stats_entities.sql
-- +file views/stats_not_yet.sql
-- +file views/stats_lateness.sql
-- +file views/stats_near_guard.sql
-- +file views/stats_slots.sql
-- +file procedures/stats_percentiles.sql -- only full
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 38);

-- +goose Down
DROP PROCEDURE IF EXISTS {prefix}stats_percentiles; -- only full
DROP VIEW IF EXISTS {prefix}stats_outcomes;
DROP VIEW IF EXISTS {prefix}stats_reasons;
DROP VIEW IF EXISTS {prefix}stats_entities;
DROP VIEW IF EXISTS {prefix}stats_not_yet;
DROP VIEW IF EXISTS {prefix}stats_lateness;
DROP VIEW IF EXISTS {prefix}stats_near_guard;
DROP VIEW IF EXISTS {prefix}stats_slots;
DROP TABLE IF EXISTS {prefix}stats_reason;
DROP TABLE IF EXISTS {prefix}stats_bucket;
DROP TABLE IF EXISTS {prefix}stats;
DROP TABLE IF EXISTS {prefix}stats_hour;
DROP TABLE IF EXISTS {prefix}duty;
UPDATE {prefix}slot_config SET migrated_to = 37;
