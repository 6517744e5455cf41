// Package machine is what an agent does about one long run, as a state machine: five states, seven events, and a cell for each pair.
// It is pure: it reads no clock and sends nothing. Time and what is known are arguments; what is to be done is returned.
//
// An agent has a machine for each run that it knows of. What it hears are the differences between two reads of long_run, what
// other agents say by the wake-up, and its own timers. What others say may be lost, late, or come twice: it makes an agent quicker,
// or has it wait, and never has it execute a run. That is decided by the row, which an UPDATE changes for one agent alone.
//
// [Table] is the table; [README.md] of this package shows it.
package machine
