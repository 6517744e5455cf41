-- How many rows lie in the last partition of job_history or event_published, up to a limit, and when did the first of them end, or was
-- published?
-- Index: PRIMARY of the table in p_later, at most the limit's entries. Locks: none.
-- 1: limit; {table}: its name; {at}: ended_at or published_at; {order}: the columns of PRIMARY
SELECT COUNT(*), MIN({at})
FROM (SELECT {at} FROM {prefix}{table} PARTITION (p_later) ORDER BY {order} LIMIT ?) few
