// Package catchup says what a timer's call fires: which occurrences are missed, which fire all the same, and which one the timer waits for next.
// It reads no clock and asks no database.
package catchup
