// Package execute calls job_execs: so many at a time, and so many of each, by lanes. It sees to timeouts, panics and calls that ignore the end of their
// context. Each form of a function has a Handler: series.go for a Func, batch.go for a BatchFunc, tx.go for a TxFunc or TxBatchFunc, in a transaction
// that the sink of the task begins and commits.
package execute
