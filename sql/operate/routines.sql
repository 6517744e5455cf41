-- Which procedures are there, and what do they do? Who may only call one sees no text.
-- Index: information_schema. Locks: none.
-- 1: their names, for LIKE
SELECT routine_name, routine_name, routine_definition FROM information_schema.routines
WHERE routine_schema = DATABASE() AND routine_type = 'PROCEDURE' AND routine_name LIKE ?
