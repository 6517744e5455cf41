-- Change a shared step that is locked.
-- Index: PRIMARY of step_definition, one entry. Locks: the row, held already.
-- {version}: the new one, {definition}: as JSON, {name}: which
UPDATE {prefix}step_definition SET version = {version}, definition = {definition}, updated_at = UTC_TIMESTAMP(6) WHERE name = {name}
