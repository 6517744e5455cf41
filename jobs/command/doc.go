// Package command has a job_exec that runs a program, and keeps it from hurting anybody. Linux only: New returns errors.ErrUnsupported elsewhere.
//
// # What it runs
//
// The program and its arguments stand in the configuration or in Go, never in a row. What the row has comes by placeholders in arguments, in
// variables, and on stdin as a line of JSON with the names of the columns:
//
//	PRESCIENT_CHECK_ENTITY_NAME  …_ENTITY_KEY  …_TAG  …_JOB_EXEC      what it is about
//	PRESCIENT_CHECK_DUE_AT  …_SLOT  …_CALLED_AT                       times, RFC 3339, UTC
//	PRESCIENT_CHECK_COUNT  …_ERRORS                                   times returned so far; errors in a row
//	PRESCIENT_CHECK_IDEMPOTENCY_KEY                                   the same until there is an answer
//
// It may begin with "-": put "--" before a placeholder. A script needs quotes round a variable.
//
// # The answer
//
//	exit 0     the matter is settled, whatever was written
//	exit 75    not yet (EX_TEMPFAIL): the last line of stdout says when, as package answer reads it
//	any other  an error, as is a signal, with the end of stderr, or of stdout where that is empty
//
// A step of a job keeps all output ([output.Of]), which is read at 16 MB/s. Errors hide the values of Env and PassEnv. A program may run more than
// once for one answer. It dies with its worker; what it has started does not.
//
// # How it ends
//
// At its Timeout, and when the context of its call ends, its group gets TERM, and KILL after the grace; a long run that another agent has taken gets KILL
// at once. What is left is killed, also what left its group (package group). Where its output stays open, the call is answered within a second. What cannot
// be killed is left after 2 s, named in an error, and tried again each 5 s; [Command.Close] waits for it. As process 1, or as a subreaper, the worker
// waits for orphans of its calls alone.
//
// # What it may take
//
// [Options] has the limits and their defaults. Memory and processes are also counted for all together, each second, processes within 50 ms of a
// jump. It dumps no core, and where the machine runs out of memory the kernel ends it first (oom_score_adj 1000). Only a cgroup bounds files of
// /dev/shm that nobody has mapped, the page cache, pipes and sockets.
//
// Beside two commands that allocate without end, 800 short checks are late by 7 ms at the median, as without, and by 19 to 35 ms at 99 %, in place of
// 9 to 11 (PRESCIENT_BESIDE_PHASES=16 scripts/test -- -v -run ShortChecksBeside ./jobs/command, on two cores).
//
// # What the worker keeps from it
//
// New, and package cmd once it has read commands, makes the process undumpable ([Shield]): the worker then has no core dumps, no debugger or strace but
// root's, and environ, fd, cwd and exe in /proc/PID are root's. All else that its user may read or do, a command without a User may: a dsn_file, the
// worker's arguments, its parent's environment, a signal that ends it. A worker of root should give its commands a User.
package command
