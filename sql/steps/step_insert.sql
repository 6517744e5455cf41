-- Insert a shared step.
-- Index: PRIMARY of step_definition, the new entry. Locks: the new row.
-- {row}: (…) in the order of the columns
INSERT INTO {prefix}step_definition (name, version, definition, created_at, updated_at) VALUES {row}
