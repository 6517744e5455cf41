-- Which resolution do DEFAULT and CHECK of future_job have? The servers spell the expressions differently.
-- Index: information_schema. Locks: none.
-- DATABASE() stands in no subquery of the list: there a shard of Vitess takes it for the target.
-- 1: name of the table, 2: name of the constraint
SELECT 'filled' AS what, COALESCE(column_default, '') AS expression FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name = ? AND column_name = 'first_check_at'
UNION ALL SELECT 'checked', COALESCE(check_clause, '') FROM information_schema.check_constraints
WHERE constraint_schema = DATABASE() AND constraint_name = ?
