// Package worker is a chaos run's worker: the real command, with job_execs that report each call to the checker before and after their
// work, on a network that can break at any statement.
package worker
