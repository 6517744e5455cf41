-- Which roles were given to which accounts, the latest last?
-- Index: PRIMARY, or that of the stream. Locks: none.
-- {stream}: that of the installation
SELECT account, after_change FROM {prefix}audit_log
WHERE stream = {stream} AND verb = 'grant' AND LENGTH(after_change) < 1000 ORDER BY at LIMIT 10000
