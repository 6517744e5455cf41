// Package slots is the arithmetic of slots: instants on a regular grid, the
// part of them that one worker serves, and whether a set of workers serves
// them all.
//
// A [Grid] has a resolution that divides a day exactly. Its slots are counted
// from the Unix epoch in UTC, so there is always one at midnight UTC, whatever
// the day, and two programs with the same resolution agree on every slot
// without talking to each other. At 15 minutes, 13:05 rounds up to the slot
// 13:15, and 13:15 itself stays where it is.
//
// An [Assignment] is the choice of slots that a worker makes: all of them
// ([All]), those in certain minutes of the hour ([ParseMinutes], written as in
// cron), or every n-th by number ([ParseShare], written 1/2 for the first of
// two). Minutes of the hour are minutes of the UTC hour.
//
// [Cover] puts the assignments of several workers side by side and says which
// slots nobody serves and which are served more than once.
//
// The package never reads a clock: a moment is always an argument. Arguments
// may be in any location and carry a monotonic reading; every time returned is
// in UTC and carries none. All of it is right from 73 billion years before the
// epoch to 73 billion years after it; a moment beyond that counts as the end it
// is past. All types are comparable values or plain data, safe for concurrent
// use.
package slots
