-- How are the columns of future_job filled in?
-- Index: information_schema. Locks: none.
-- 1: names of the tables, for LIKE; of these only future_job counts
SELECT column_name, COALESCE(column_default, '') FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name LIKE ? AND table_name = '{prefix}future_job'
