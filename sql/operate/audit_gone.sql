-- Schedules that are gone, though their latest entry in the audit does not say so: among the latest entries.
-- Index: PRIMARY of audit_log, the last limit's entries; PRIMARY of schedule and stream of audit_log, one entry each. Locks: none.
-- 1: how many entries are looked at, 2: limit
SELECT DISTINCT seen.id AS id, CONCAT('the audit says last: ', seen.verb) AS reason
FROM (SELECT stream, seq, kind, id, verb FROM {prefix}audit_log FORCE INDEX (PRIMARY) ORDER BY at DESC, stream DESC, seq DESC LIMIT ?) seen
  LEFT JOIN {prefix}schedule one FORCE INDEX (PRIMARY) ON one.id = seen.id
  LEFT JOIN {prefix}audit_log later FORCE INDEX (stream) ON later.stream = seen.stream AND later.seq = seen.seq + 1
WHERE seen.kind = 'schedule' AND seen.verb <> 'delete' AND one.id IS NULL AND later.seq IS NULL LIMIT ?
