-- When were entries of some streams written that are up to a day later than now? There are some where the clock was put back since.
-- Index: stream of audit_log, the entries of those streams, and nothing but it. Locks: the entries that are read.
-- {streams}: conditions on stream and seq, {now}: the time
SELECT HEX(stream), CAST(at AS CHAR) FROM {prefix}audit_log FORCE INDEX (stream)
WHERE ({streams} OR 1 = 0) AND at > {now} AND at <= {now} + INTERVAL 1 DAY LOCK IN SHARE MODE
