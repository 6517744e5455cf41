-- What the entry did that made a version.
-- Index: incarnation of audit_log, an entry or as many as were written of that version. Locks: none.
-- {stream}, {incarnation}, {version}
SELECT verb FROM {prefix}audit_log FORCE INDEX (incarnation)
WHERE stream = {stream} AND incarnation = {incarnation} AND version = {version} LIMIT 1
