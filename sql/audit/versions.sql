-- The versions that entries of the audit have made, in the order of the streams.
-- Index: incarnation of audit_log, at most the limit's entries, and nothing but it. Locks: none.
-- {from}: the stream behind which it begins, {limit}: how many
SELECT HEX(stream), CAST(incarnation AS CHAR), COALESCE(version, 0), pruned FROM {prefix}audit_log FORCE INDEX (incarnation)
WHERE stream > {from} ORDER BY stream, incarnation, version, pruned LIMIT {limit}
