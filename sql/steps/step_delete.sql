-- Delete a shared step that is locked.
-- Index: PRIMARY of step_definition, one entry. Locks: the row, held already.
-- {name}: which
DELETE FROM {prefix}step_definition WHERE name = {name}
