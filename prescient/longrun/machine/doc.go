// Package machine is what an agent does about one long run, as a state machine: five states, seven events, and a cell for each pair. It is pure:
// time and what is known are arguments; what is to be done is returned. It goes by [Table], and in a cell by the first rule whose condition holds.
//
// Of two announced claims the higher random priority goes first, or else the lower id; the other agent gives way once: it tries again a little later.
// What other agents say may be lost, late or repeated. It makes an agent quicker, or has it wait; only the row starts or ends a call. Where two reads show
// a lower token than is known, as after a failover that lost commits, the run is read anew.
//
// The tests run three machines and a row against every order of messages, losses, delays, crashes and lapses, up to ten steps.
package machine
