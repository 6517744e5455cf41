// Package slots is the arithmetic of slots: instants on a regular grid, and the part of them that one worker serves.
//
// A [Grid] has a resolution that divides a day. Its slots are counted from the Unix epoch in UTC, so one is at midnight UTC.
//
// An [Assignment] is what a worker serves: all slots ([All]), those in minutes of the UTC hour ([ParseMinutes], as in cron), or every n-th
// ([ParseShare], 1/2 for the first of two). [Cover] says which slots several assignments leave out, and which they share.
//
// The package reads no clock. A time may be in any location; those returned are in UTC, without a monotonic reading.
package slots
