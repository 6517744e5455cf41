-- Change a rule that is locked. The walk over what is pending begins anew.
-- Index: PRIMARY of rule, one entry. Locks: the row, held already.
-- {version}, {state}, {since}, {moved_to}, {ended_to}, {now}: of the change, {name}: which
UPDATE {prefix}rule FORCE INDEX (PRIMARY)
SET version = {version}, state = {state}, since = {since}, moved_to = {moved_to}, ended_to = {ended_to}, updated_at = {now},
    walk_pass = 0, walk_reached = '', walk_found = 0, walk_moved = 0, walk_late = 0, walk_ended = 0, walk_at = NULL
WHERE name = {name}
