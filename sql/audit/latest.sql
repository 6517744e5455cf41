-- The number of the latest entry of each stream; a stream without entries is left out. {lock} is empty, or LOCK IN SHARE MODE where the
-- snapshot of the caller's transaction hid one.
-- Index: stream of audit_log, the end of each. Locks: none, or the entries that are read.
-- {streams}: a list, {lock}
SELECT HEX(stream), MAX(seq) FROM {prefix}audit_log FORCE INDEX (stream)
WHERE (stream IN ({streams}) OR 1 = 0) GROUP BY stream {lock}
