// Package check is a row on its way through a slot run: as it was read, with what its job_exec answered, and with what
// becomes of it.
package check
