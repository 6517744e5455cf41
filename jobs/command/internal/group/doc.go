// Package group knows, counts and ends the processes of a call: those of its group, and those that left it, by a mark. It reads /proc of Linux.
// The mark stands in two places; what takes off both, and leaves the group, is not found.
//
//   - RLIMIT_RSS, which the kernel does not heed: inherited, readable by anybody, kept until a process is waited for. It is missing where this process has
//     such a limit itself.
//   - a variable of the environment, for processes whose limits were set anew, as by su and sudo
package group
