// Package check is a row on its way through a slot run: as it was read, what its job_exec answered, and what becomes of it.
package check
