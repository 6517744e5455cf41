// Command prescient runs checks that are due some time later, at their slot: package cmd without job_execs of its own.
package main
