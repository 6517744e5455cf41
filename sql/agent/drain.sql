-- Want agents of a name to take nothing new: those that stay up and live, and that nobody wants it of yet.
-- Index: PRIMARY of agent, the rows of the name. Locks: these records.
-- {wanted_by}, {name}, {silent}: for how many microseconds one that lives is not heard of at most
UPDATE {prefix}agent SET wanted = 'drain', wanted_by = {wanted_by}, wanted_at = UTC_TIMESTAMP(6)
WHERE name = {name} AND kind = 'work' AND wanted IS NULL AND seen_at > UTC_TIMESTAMP(6) - INTERVAL {silent} MICROSECOND
