-- About how many rows are within the bounds, by the optimiser's look at both ends of the range: no row is read. MySQL does
-- not look where an index is forced.
-- Index: PRIMARY of future_job. Locks: none.
-- {bounds}: conditions
EXPLAIN FORMAT=TRADITIONAL SELECT job_exec FROM {prefix}future_job
  /*!80000 IGNORE INDEX (job_key) *//*M! FORCE INDEX (PRIMARY) */ WHERE {bounds}
