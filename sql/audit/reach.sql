-- The entry that a stretch of the audit ends with, going back from a cursor.
-- Index: PRIMARY of audit_log, a range. Locks: none.
-- {filter}: conditions on at and the cursor, {offset}: how many entries come before it
SELECT CAST(at AS CHAR), HEX(entry) FROM {prefix}audit_log FORCE INDEX (PRIMARY)
WHERE {filter} ORDER BY at DESC, entry DESC LIMIT 1 OFFSET {offset}
