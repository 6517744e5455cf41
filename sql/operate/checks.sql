-- Which CHECK constraints are there? MySQL's list has no table.
-- Index: information_schema. Locks: none.
-- 1: names of the constraints, for LIKE
SELECT '', constraint_name FROM information_schema.check_constraints
WHERE constraint_schema = DATABASE() AND constraint_name LIKE ?
