// Package heartbeat tells services outside that all is well: dead man's switches, which raise the alarm when they are not asked in time.
// A [Sender] is in nobody's way: what it is told waits in its memory, up to 100 signals. worker.Observer, longrun.Observer and
// schedule.Schedules.OnSent tell a program what to tell it.
package heartbeat
