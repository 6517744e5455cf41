-- Delete long runs that ended: those of checks of apps, and of schedules that are gone or have not run since.
-- What a foreign key of an app's keeps is passed over.
-- Index: ended_at of long_run, a range. Locks: the rows.
-- 1: ended before, 2: limit
DELETE IGNORE FROM {prefix}long_run WHERE ended_at < ? ORDER BY ended_at LIMIT ?
