// Command prescient runs checks that are due some time later, at their slot. See prescient --help, and the package
// prescient/cmd for a program that brings its own job_execs.
//
// It holds nothing itself: commands, exit codes and what happens on each failure stand in prescient/cmd, the life of a
// check in prescient/prescient.
package main
