// Package worker is the program that a chaos run starts as its workers: the real command, with job_execs that report
// every call to the checker before and after they do their work, on a network that can break at any statement.
package worker
