-- The stream that a stretch of the audit ends with, in the order of the streams.
-- Index: stream of audit_log, a range. Locks: none.
-- {from}: the stream behind which it begins, {offset}: how many entries come before the one that is asked for
SELECT HEX(stream) FROM {prefix}audit_log FORCE INDEX (stream) WHERE stream > {from} ORDER BY stream LIMIT 1 OFFSET {offset}
