// Package heartbeat tells services outside that all is well: dead man's switches, which raise the alarm when they are not asked in time.
// A [Sender] is in nobody's way: what it is told waits in its memory, up to 100 signals. Package service tells it.
package heartbeat
