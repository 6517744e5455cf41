-- Procedures for apps in any language: put, reschedule, ended, publish. Locks and copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
-- +file procedures/put.sql -- only full
-- +file procedures/reschedule.sql -- only full
-- +file procedures/ended.sql -- only full
-- +file procedures/publish.sql -- only full
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 50);

-- +goose Down
DROP PROCEDURE IF EXISTS {prefix}put; -- only full
DROP PROCEDURE IF EXISTS {prefix}reschedule; -- only full
DROP PROCEDURE IF EXISTS {prefix}ended; -- only full
DROP PROCEDURE IF EXISTS {prefix}publish; -- only full
UPDATE {prefix}slot_config SET migrated_to = 49;
