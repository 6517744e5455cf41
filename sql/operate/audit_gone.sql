-- Objects of a kind that are gone, though their latest entry in the audit does not say so: among the latest entries.
-- Index: PRIMARY of audit_log, the last limit's entries; PRIMARY of the table and stream of audit_log, one entry each. Locks: none.
-- 1: how many entries are looked at, 2: limit; {kind}: schedule, job or step, {table}: that has them, {same}: whether one of it is that of
-- the entry seen
SELECT DISTINCT seen.id AS id, CONCAT('the audit says last: ', seen.verb) AS reason
FROM (SELECT stream, seq, kind, id, verb FROM {prefix}audit_log FORCE INDEX (PRIMARY) ORDER BY at DESC, stream DESC, seq DESC LIMIT ?) seen
  LEFT JOIN {prefix}{table} one FORCE INDEX (PRIMARY) ON {same}
  LEFT JOIN {prefix}audit_log later FORCE INDEX (stream) ON later.stream = seen.stream AND later.seq = seen.seq + 1
WHERE seen.kind = '{kind}' AND seen.verb <> 'delete' AND one.created_at IS NULL AND later.seq IS NULL LIMIT ?
