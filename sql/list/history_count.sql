-- How many rows of a stretch are those that are asked for?
-- Index: PRIMARY of job_history, or job_key, the stretch. Locks: none.
-- {filter}: what is asked for; {bounds}: the stretch; {index}: its name
SELECT COUNT(*) AS looked, COUNT(CASE WHEN {filter} THEN 1 END) AS matching FROM {prefix}job_history FORCE INDEX ({index}) WHERE {bounds}
