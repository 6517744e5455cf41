// Package stats answers what became of checks, by job_exec: how many were called, what failed and why, how long calls took and how late they
// were. It reads exec_run, which workers write with each commit.
//
// A [Rollup] sums up history by hour and by day, for years.
package stats
