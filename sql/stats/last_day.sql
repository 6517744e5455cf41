-- The latest day that was summed up, and is over: apps may write ends ahead of the clock.
-- Index: PRIMARY of stats, one entry. Locks: none.
SELECT MAX(start) FROM {prefix}stats FORCE INDEX (PRIMARY) WHERE grain = 'day' AND start < UTC_DATE()
