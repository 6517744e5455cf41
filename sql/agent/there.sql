-- How many agents of a name stay up and live?
-- Index: PRIMARY of agent, the rows of the name. Locks: none.
-- {name}, {silent}: for how many microseconds one that lives is not heard of at most
SELECT COUNT(*) FROM {prefix}agent
WHERE name = {name} AND kind = 'work' AND seen_at > UTC_TIMESTAMP(6) - INTERVAL {silent} MICROSECOND
