-- How many rows of a stretch are those that are asked for?
-- Index: PRIMARY of future_job, or job_key, the stretch. Locks: none.
-- {filter}: what is asked for; {bounds}: the stretch; {index}: its name
SELECT COUNT(*) AS looked, COUNT(CASE WHEN {filter} THEN 1 END) AS matching FROM {prefix}future_job FORCE INDEX ({index}) WHERE {bounds}
