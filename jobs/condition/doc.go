// Package condition has a job_exec that asks a table whether something has not happened yet, and acts where it has not: jobs.sql. A look is a statement for
// up to 500 entities, in a READ ONLY transaction:
//
//	SELECT DISTINCT id FROM shop.orders FORCE INDEX (PRIMARY) WHERE id IN (42,43,…) AND (shipped_at IS NULL)
//
// A check whose row does not come back is settled: it has happened, or the row is gone. [Options] says what is done about the others, [Key] which keys are
// errors. A server that is away counts as an error.
package condition
