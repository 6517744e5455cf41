-- Lock the schedules of an owner, and see which are disabled as no good.
-- Index: owner of schedule. Locks: its entries, their rows, and under REPEATABLE READ the gaps between them.
-- {name}, {key}: the owner
SELECT HEX(id), disabled_at IS NOT NULL FROM {prefix}schedule FORCE INDEX (owner)
WHERE owner_name = {name} AND owner_key = {key} ORDER BY id FOR UPDATE
