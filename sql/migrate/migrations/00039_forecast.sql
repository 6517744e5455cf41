-- The forecast. Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/forecast_made.sql
-- +file tables/forecast.sql
-- +file tables/forecast_fit.sql
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 39);

-- +goose Down
DROP TABLE IF EXISTS {prefix}forecast_fit;
DROP TABLE IF EXISTS {prefix}forecast;
DROP TABLE IF EXISTS {prefix}forecast_made;
UPDATE {prefix}slot_config SET migrated_to = 38;
