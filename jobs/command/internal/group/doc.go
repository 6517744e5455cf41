// Package group knows the processes of a call, wherever they have gone: those of the group of the program that was started, and those that
// left it, by a mark. It counts them, ends them, and takes those that have ended off this process's hands. It is for Linux, and reads /proc.
//
// # The mark
//
// It stands in two places, of which either is enough:
//
//   - a limit that the kernel does not heed (RLIMIT_RSS). Children have it by themselves, whatever they take from their environment; whoever
//     may see a process may read it, also of another user's; and a process keeps it when it has exited, until it is waited for. It is missing
//     where this process has such a limit itself.
//   - a variable of the environment, for processes whose limits were set anew, as some systems do for su and sudo
//
// One that takes off both, and leaves the group, is not found.
package group
