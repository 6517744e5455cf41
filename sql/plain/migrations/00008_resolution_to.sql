-- In the dialect plain the first migration makes the column.
-- Locks and copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
DO 0;

-- +goose Down
DO 0;
