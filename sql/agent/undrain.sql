-- Want no more of agents of a name that they take nothing new.
-- Index: PRIMARY of agent, the rows of the name. Locks: these records.
-- {name}
UPDATE {prefix}agent SET wanted = NULL, wanted_by = NULL, wanted_at = NULL WHERE name = {name} AND wanted IS NOT NULL
