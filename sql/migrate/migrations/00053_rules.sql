-- Rules as data: which check comes after which occasion. Of a check that a rule has made the row says by which version of that, and when the occasion was.
-- Locks future_job for a moment, and copies nothing; the tables are new. The procedure put is made anew, and happened is new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/rule.sql
-- +file tables/rule_version.sql
ALTER TABLE {prefix}future_job ADD COLUMN rule_version INT UNSIGNED NULL COMMENT 'of the rule that its tag names, which made or moved it last; NULL for no rule';
ALTER TABLE {prefix}future_job ADD COLUMN occasion_at DATETIME(6) NULL COMMENT 'UTC: when the occasion was for which a rule made it';
-- +file procedures/put.sql -- only full
-- +file procedures/happened.sql -- only full
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 53);

-- +goose Down
-- +file procedures/put.sql -- only full
DROP PROCEDURE IF EXISTS {prefix}happened; -- only full
DROP TABLE IF EXISTS {prefix}rule_version;
DROP TABLE IF EXISTS {prefix}rule;
UPDATE {prefix}slot_config SET migrated_to = 52;
