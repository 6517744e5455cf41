// Package catchup says what a timer's call fires: which occurrences are missed, how many of them fire all the same, and which one
// the timer waits for next. It is pure: it reads no clock and asks no database.
package catchup
