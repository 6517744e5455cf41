// Package execute calls job_execs: at most so many at a time, and at most so many of each, which have a lane of their own.
// It sees to timeouts, panics and calls that ignore the end of their context. Answers go to the sink of the task.
//
// A lane calls its function through a Handler, which each form of a function has its own of: a Func is called in series
// (series.go), a BatchFunc once for all rows of a task (batch.go), and a TxFunc or TxBatchFunc in a transaction (tx.go) that
// the sink begins and commits.
package execute
