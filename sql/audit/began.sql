-- Since when there is an audit: the time of the first entry of the installation.
-- Index: stream of audit_log, an entry. Locks: none.
-- {stream}: that of the installation
SELECT CAST(at AS CHAR) FROM {prefix}audit_log FORCE INDEX (stream) WHERE stream = {stream} ORDER BY at LIMIT 1
