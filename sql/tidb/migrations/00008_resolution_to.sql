-- On TiDB the table of the first migration has the column.

-- +goose NO TRANSACTION
-- +goose Up
DO 0;

-- +goose Down
DO 0;
