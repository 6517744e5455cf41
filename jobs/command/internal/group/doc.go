// Package group knows, counts and ends the processes of a call: those of its group, and those that left it, by a [Mark]. It reads /proc of Linux.
//
// A mark is a limit that the kernel does not heed, and children inherit (RLIMIT_RSS); and a variable of the environment, since su and sudo may set
// limits anew. What takes off both, and leaves the group, is not found.
package group
