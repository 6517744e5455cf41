-- Lock the schedules of an owner.
-- Index: owner of schedule. Locks: its entries, their rows, and under REPEATABLE READ the gaps between them.
-- {payload}: payload or NULL, and its length or NULL, {name}, {key}: the owner
-- +file schedule/parts/row.sql
FROM {prefix}schedule FORCE INDEX (owner)
WHERE owner_name = {name} AND owner_key = {key} ORDER BY id FOR UPDATE
