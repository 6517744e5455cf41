-- People who sign in to the page, and their sessions. Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/web_user.sql
-- +file tables/web_session.sql
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 46);

-- +goose Down
DROP TABLE IF EXISTS {prefix}web_session;
DROP TABLE IF EXISTS {prefix}web_user;
UPDATE {prefix}slot_config SET migrated_to = 45;
