-- The dialect plain has no procedures: an app in another language cancels through the command.
-- Locks and copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
DO 0;

-- +goose Down
DO 0;
