// Package command has a job_exec that runs a program, and keeps it from hurting anybody.
//
// # What it runs
//
// The program and its arguments stand in the configuration, or in the program that registers the command: never in a row. Whoever may insert
// a check chooses what it is about, not what is run. No shell reads the command line, unless it is asked for (Shell). What the row
// has comes in variables, on stdin as one line of JSON, with the names of the columns, and by placeholders in arguments:
//
//	PRESCIENT_CHECK_ENTITY_NAME  …_ENTITY_KEY  …_TAG  …_JOB_EXEC      what it is about
//	PRESCIENT_CHECK_DUE_AT  …_SLOT  …_CALLED_AT                       times, RFC 3339, UTC
//	PRESCIENT_CHECK_COUNT  …_ERRORS                                   times returned so far; errors in a row
//	PRESCIENT_CHECK_IDEMPOTENCY_KEY                                   the same until there is an answer
//	{entity_name} {entity_key} {tag} {job_exec} {due_at} {slot} {idempotency_key}
//
// A placeholder stays within its argument, whatever the row has. Still, an argument that begins with one may begin with "-", and be
// an option to the program: put "--" before it. In a script of the shell, what a row has is data only in quotes: "$PRESCIENT_CHECK_ENTITY_KEY".
//
// The environment is small, since that of a worker holds secrets: PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_…, TZ, TMPDIR, and what Env and
// PassEnv give. Names that a shell drops or sets itself are refused (package variable).
//
// # The answer
//
//	exit 0     the matter is settled, whatever was written
//	exit 75    not yet (EX_TEMPFAIL): the last line of stdout says when to run it again, as package answer reads it:
//	           {"next_in": "2h"} or {"next_check_at": "2026-03-01T16:00:00Z"}
//	any other  an error, as is a signal, with the end of stderr, or of stdout where that is empty
//
// The ends of both are kept, 64 KiB by default; of an error some hundred bytes are shown, without the values of Env and PassEnv. All of it goes to
// [output.Of] the context, too, where a step of a job keeps it. A program that writes without end is read at 16 MB/s.
//
// It may be run more than once for one answer: after an error, and where its worker died. When that happens the program dies with its
// worker (PR_SET_PDEATHSIG); what the program has started does not, so that it should not leave work to others.
//
// # How it ends
//
// When its Timeout is over, when the context of its call ends (the timeout of its guards, a long run that is cancelled, or handed on
// as the worker stops), its whole group gets TERM, and KILL when the grace is over. [Command.Close] waits for that at the end of a program. A long run that is lost, since another agent has
// it, is killed at once. Whatever way it ends, none of its processes stays: those of its group are killed in one stroke, and those that
// have left it are known by a mark, which they inherit: a limit that the kernel does not heed (RLIMIT_RSS), and a variable of the environment. One
// that takes off both, and leaves the group, is not found. Where such a one, or whoever else, still has its stdout or stderr open, the
// call is answered within a second all the same; the log says so, and the error where there is one.
//
// What cannot be killed (a program of another user, as a setuid one makes itself; one that hangs in the kernel) is left after 2 s. The
// call is an error that names it, and so does the log. While the command is open, it is tried again each 5 s.
//
// As process 1 of a container, or as a subreaper, this process gets the orphans of its calls from the kernel. It waits for those that carry a mark,
// and for no others: exit codes of other children stay theirs who started them, and other orphans stay zombies, unless something as
// docker run --init takes them.
//
// # What it may take
//
//	memory      RLIMIT_AS, for each process; and all together no more than that of what is theirs or shared by mappings, counted each second
//	processor   nice 10; RLIMIT_CPU where it is given
//	processes   256, counted each second, and within 50 ms of a jump; RLIMIT_NPROC, some more than that, unless they are root's
//	files       RLIMIT_NOFILE where it is given
//	the rest    no core dumps; and where the machine runs out of memory all the same, the kernel ends it first (oom_score_adj 1000)
//
// 800 short checks beside two commands that allocate without end, again and again: at the median as late as without (7 ms), and 19 to 35 ms at 99 %
// in place of 9 to 11, by three servers at once on two cores (PRESCIENT_BESIDE_PHASES=16 scripts/test -- -v -run ShortChecksBeside ./jobs/command).
//
// What is shared counts once, as is what a memfd or a file of /dev/shm has mapped. Unbounded are: what is written to such files and not mapped,
// which stays in /dev/shm when the command has ended; the page cache; and what the kernel has for a process: pipes, sockets, page tables. Only a
// cgroup bounds these, as that of a container or of the worker's unit (MemoryMax).
//
// The kernel bounds no processes of root. A worker that runs as root should give its commands a User: without it, one that forks faster than
// it is counted, each child in a session of its own, can take the machine with it.
//
// # What the worker keeps from it
//
// A command that has no User of its own runs as the worker's, and could read the worker's environment, memory and files in /proc. So New
// makes the process undumpable (PR_SET_DUMPABLE 0; [Shield]), and the program of package cmd does so as soon as it has read a configuration with
// commands. The files that it was started with are closed where another program begins. That has its price, unless one is root:
//
//   - no core dumps of the worker, whatever ulimit -c says
//   - no debugger, strace or perf may be attached to it by its own user
//   - /proc/PID of it belongs to root: its environ, fd, cwd and exe are not for its user (lsof, ss -p). stat, status and cmdline are still for
//     everybody; metrics and profiles that the worker itself makes go on
//
// It keeps nothing else. What the command's user may read, the command may: a configuration or dsn_file that the worker's user can read, an
// argument of the worker (cmdline), the environment of the worker's parent, such as a shell that exported it, and what PassEnv passes.
// It may also end the worker by a signal. Only a User of its own keeps these from it; and from root nothing is kept.
//
// # Why by way of a shell
//
// Go starts a program with the limits of its own process, and has no place to set others between fork and exec. Setting them afterwards
// (prlimit) would be too late for what forks at once, and is refused for another user's process in most containers. So a shell sets them
// for itself, from a script of numbers that this package writes, and then becomes the program by exec. The program and its arguments
// are the shell's arguments, which it does not read. To stop the program by ptrace instead is not allowed to hardened services, and
// takes setuid from sudo; a second start of this very program needs a hook in everybody's main. It needs /bin/sh and nice, which every
// system has that has commands to run.
//
// Linux only: New returns errors.ErrUnsupported elsewhere.
package command
