// Package execute calls job_execs: at most so many at a time, and at most so many of each, which have a lane of their own.
// It sees to timeouts, panics and calls that ignore the end of their context. Answers go to the sink of the task.
package execute
