-- Give the first entries of the audit their place. Those that migrations of before wrote have none, and stop a reshard.
-- Index: stream of audit_log, the entries of the installation. Locks: these.
-- {stream}: that of the installation
UPDATE {prefix}audit_log SET place = SUBSTRING(stream, 1, 12) WHERE stream = {stream} AND place IS NULL
