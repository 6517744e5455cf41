-- Note how far the walk is, if nobody else has walked on, and the rule is as it was.
-- Index: PRIMARY of rule, one entry. Locks: the row.
-- {pass}, {reached}, {found}, {moved}, {late}, {ended}, {at}, {walked_to}: as they are to be, {name}: which, {version}, {was_pass}, {was}:
-- as they were read
UPDATE {prefix}rule FORCE INDEX (PRIMARY)
SET walk_pass = {pass}, walk_reached = {reached}, walk_found = {found}, walk_moved = walk_moved + {moved}, walk_late = walk_late + {late},
    walk_ended = walk_ended + {ended}, walk_at = {at}, walked_to = {walked_to}
WHERE name = {name} AND version = {version} AND walk_pass = {was_pass} AND walk_reached = {was}
