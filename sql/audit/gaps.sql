-- Streams of the audit that do not count 1, 2, 3 and so on, in a range of streams: their least and latest number, how many entries
-- they have, and the one before which they were pruned.
-- Index: stream of audit_log, a range, and nothing but it; the entries of the streams that are found. Locks: none.
-- {from}: the stream behind which it begins, {to}: the last one
SELECT HEX(found.stream), found.least, found.latest, found.entries, COALESCE((SELECT MAX(marked.seq)
    FROM {prefix}audit_log marked FORCE INDEX (stream) WHERE marked.stream = found.stream AND marked.pruned = 1), 0)
FROM (SELECT stream, MIN(seq) AS least, MAX(seq) AS latest, COUNT(*) AS entries FROM {prefix}audit_log FORCE INDEX (stream)
  WHERE stream > {from} AND stream <= {to} GROUP BY stream HAVING MIN(seq) <> 1 OR MAX(seq) <> COUNT(*)) found
