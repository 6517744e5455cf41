// Package execute calls job_execs: so many at a time, and so many of each, which have a lane of their own. It sees to timeouts, panics and calls that
// ignore the end of their context. Answers go to the sink of the task.
//
// Each form of a function has a Handler: a Func is called in series (series.go), a BatchFunc once for all rows of a task (batch.go), a TxFunc or
// TxBatchFunc in a transaction that the sink begins and commits (tx.go).
package execute
