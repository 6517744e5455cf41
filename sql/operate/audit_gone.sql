-- Objects of a kind that are gone, though their latest entry in the audit does not say so: among some entries.
-- Index: PRIMARY of audit_log, the last limit's entries, or incarnation, as many; PRIMARY of the table and incarnation of audit_log,
-- one entry each. Locks: none.
-- 1: how many entries are looked at, 2: limit; {kind}: schedule, job or step, {table}: that has them, {same}: whether one of it is that of
-- the entry seen, {some}: which entries, by an index in its order
SELECT DISTINCT seen.id AS id, CONCAT('the audit says last: ', seen.verb) AS reason
FROM (SELECT stream, kind, id, verb, version, incarnation FROM {prefix}audit_log {some} LIMIT ?) seen
  LEFT JOIN {prefix}{table} one FORCE INDEX (PRIMARY) ON {same} AND one.created_at = seen.incarnation
WHERE seen.kind = '{kind}' AND seen.verb <> 'delete' AND seen.incarnation IS NOT NULL AND one.created_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM {prefix}audit_log later FORCE INDEX (incarnation)
    WHERE later.stream = seen.stream AND later.incarnation = seen.incarnation AND later.version > seen.version) LIMIT ?
