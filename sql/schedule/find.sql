-- Schedules by their ids, in the order of these. {lock} is empty, or FOR UPDATE where they are to be changed. Text comes in
-- hexadecimal and times as text, since this runs on the app's connection, whose settings are its own. Who wants no payload gives
-- NULL, NULL for {payload}; else it is what an event, or a run, carries, and how many bytes that has.
-- Index: PRIMARY of schedule, one entry each. Locks: none, or the rows.
-- Without OR 1 = 0 MariaDB makes a subquery of a list of 1000, and sorts.
-- {payload}: payload or NULL, and its length or NULL, {ids}: a list
-- +file schedule/parts/row.sql
FROM {prefix}schedule FORCE INDEX (PRIMARY)
WHERE (id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
ORDER BY id {lock}
