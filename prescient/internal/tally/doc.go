// Package tally counts what became of checks by job_exec and kind of entity: the lines of exec_run, a few for each bucket of a slot. Who
// commits what becomes of rows writes their lines in the same transaction, so that the ends of exec_run are those of job_history, but for
// the ends that apps write.
package tally
