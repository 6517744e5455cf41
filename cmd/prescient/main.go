// Command prescient runs checks that are due some time later, at their slot. See prescient --help, and the package
// prescient/cmd for a program that brings its own job_execs.
package main

import "prescient/cmd"

func main() { cmd.Main(cmd.Options{}) }
