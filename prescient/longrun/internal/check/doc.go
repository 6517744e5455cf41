// Package check is the check of a long run as future_job has it, in a transaction that starts the run, or writes its end: it is read without a
// lock, locked by its primary key as a slot run does, and moved or ended.
package check
