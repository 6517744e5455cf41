-- What is to stay of streams of the audit: the first entry that is not old, or NULL; the latest one, and what it is.
-- Index: stream of audit_log, all entries of each. Locks: the latest entries.
-- {streams}: a list, {cutoff}: before which entries are old
SELECT HEX(whole.stream), whole.kept, whole.latest, entry.kind, entry.verb
FROM (SELECT stream, MIN(IF(at >= {cutoff}, seq, NULL)) AS kept, MAX(seq) AS latest FROM {prefix}audit_log FORCE INDEX (stream)
    WHERE (stream IN ({streams}) OR 1 = 0) GROUP BY stream) whole
  STRAIGHT_JOIN {prefix}audit_log entry FORCE INDEX (stream) ON entry.stream = whole.stream AND entry.seq = whole.latest FOR UPDATE
