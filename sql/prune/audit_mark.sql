-- Mark the entry that then is the first of an incarnation: those of versions before it were pruned.
-- Index: incarnation of audit_log, one entry, or as many as were written of that version. Locks: the rows.
-- {stream}, {incarnation}, {version}: which was deleted
UPDATE {prefix}audit_log entry FORCE INDEX (incarnation)
  JOIN (SELECT MIN(version) AS version FROM {prefix}audit_log FORCE INDEX (incarnation)
    WHERE stream = {stream} AND incarnation = {incarnation} AND version > {version}) first ON first.version = entry.version
SET entry.pruned = 1 WHERE entry.stream = {stream} AND entry.incarnation = {incarnation}
