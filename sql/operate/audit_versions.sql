-- Objects of a kind, among the first ones, of which the audit has another version as the latest than they have; and such without an
-- entry that were made or changed since there is an audit.
-- Index: PRIMARY of the table, at most the first limit's entries; incarnation of audit_log, the latest entry each. Locks: none.
-- 1: how many objects are looked at, 2: limit; {kind}: schedule, job or step, {table}: that has them, {id}: its key
SELECT seen.id AS id, CONCAT('it has version ', seen.version, ', the audit ', COALESCE(seen.told, 'none')) AS reason
FROM (SELECT few.id, few.version, few.changed_at,
        (SELECT entry.version FROM {prefix}audit_log entry FORCE INDEX (incarnation) WHERE entry.stream =
           SUBSTRING(UNHEX(SHA2(CONCAT('{kind}', UNHEX('00'), CAST(few.id AS BINARY)), 256)), 1, 16)
           AND entry.incarnation = few.created_at ORDER BY entry.version DESC LIMIT 1) AS told
      FROM (SELECT {id} AS id, version, created_at, COALESCE(updated_at, created_at) AS changed_at
        FROM {prefix}{table} FORCE INDEX (PRIMARY) ORDER BY {id} LIMIT ?) few WHERE few.version > 0) seen
WHERE seen.told <> seen.version
   OR seen.told IS NULL AND seen.changed_at > (SELECT began.at FROM {prefix}audit_log began FORCE INDEX (stream) WHERE
        began.stream = SUBSTRING(UNHEX(SHA2(CONCAT('installation', UNHEX('00'), 'prescient'), 256)), 1, 16) ORDER BY began.at LIMIT 1)
LIMIT ?
