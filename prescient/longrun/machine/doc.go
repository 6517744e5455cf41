// Package machine is what an agent does about one long run, as a state machine: five states, seven events, and a cell for each pair. It is pure:
// time and what is known are arguments; what is to be done is returned. [Table] is the table, which README.md shows.
package machine
