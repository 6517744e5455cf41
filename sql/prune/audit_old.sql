-- Old entries of the audit, the first of them first, behind a cursor.
-- Index: PRIMARY of audit_log, a range. Locks: none.
-- {cutoff}: before which they are, {behind}: the cursor as a condition, {limit}: how many
SELECT CAST(at AS CHAR), HEX(stream), seq FROM {prefix}audit_log FORCE INDEX (PRIMARY)
WHERE at < {cutoff} AND {behind} ORDER BY at, stream, seq LIMIT {limit}
