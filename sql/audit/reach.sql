-- The entry that a stretch of the audit ends with, going back from a cursor.
-- Index: PRIMARY of audit_log, or stream, a range. Locks: none.
-- {index}: which of them, {order}: its own, {filter}: conditions on at and the cursor, {offset}: how many entries come before it
SELECT CAST(at AS CHAR), HEX(entry) FROM {prefix}audit_log FORCE INDEX ({index})
WHERE {filter} ORDER BY {order} LIMIT 1 OFFSET {offset}
