-- A page of schedules, in the order of their ids.
-- Index: PRIMARY of schedule from the cursor on, or owner. Locks: none.
-- {payload}: payload or NULL, and its length or NULL, {index}: which of them, {filter}: conditions, {limit}: how many
-- +file schedule/parts/row.sql
FROM {prefix}schedule FORCE INDEX ({index})
WHERE {filter} ORDER BY id LIMIT {limit}
