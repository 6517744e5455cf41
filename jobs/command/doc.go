// Package command has a job_exec that runs a program, and keeps it from hurting anybody, on Linux only.
//
// # What it runs
//
// Program and arguments stand in the configuration or in Go, never in a row. The row comes in placeholders of arguments, in variables, and on
// stdin as a line of JSON with the names of the columns:
//
//	PRESCIENT_CHECK_ENTITY_NAME  …_ENTITY_KEY  …_TAG  …_JOB_EXEC      what it is about
//	PRESCIENT_CHECK_DUE_AT  …_SLOT  …_CALLED_AT                       times, RFC 3339, UTC
//	PRESCIENT_CHECK_COUNT  …_ERRORS                                   times returned so far; errors in a row
//	PRESCIENT_CHECK_IDEMPOTENCY_KEY                                   the same until there is an answer
//	TRACEPARENT                                                       of the call's span, where there is one
//
// Put "--" before a placeholder, since it may begin with "-", and in a script quotes round a variable.
//
// An error has the end of stderr, or of stdout where that is empty, without the values of Env and PassEnv.
// Output is read at 16 MB/s, and goes to [output.Of] the context. A program dies with its worker; what it has started does not.
//
// # How it ends
//
// At its Timeout, and when its context ends, its group gets TERM, and KILL after the grace; a long run that another agent has taken gets KILL at once. What is
// left is killed, also what left its group (package group). What cannot be killed is left after 2 s, named in an error, and tried again each 5 s.
// [Command.Close] waits for all that.
//
// # What it may take
//
// [Options] has the limits and their defaults. Memory and processes are also counted for all together, each second, processes within 50 ms of a
// jump. It dumps no core, and where the machine runs out of memory the kernel ends it first. Only a cgroup bounds files of /dev/shm that nobody has mapped,
// the page cache, pipes and sockets.
package command
