// Package claimer claims an agent's long runs. One statement looks for what may be claimed in all its pools; a machine for each run that it knows of
// says what is to be done.
//
// Once a function returns it claims the next run that the last look has shown, and looks again, ten times a second at most. Runs that are to be claimed at
// the same time are claimed in one transaction: else the server's commits, and not the load, would say who gets how many.
package claimer
