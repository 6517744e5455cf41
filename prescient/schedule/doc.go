// Package schedule turns crontabs into checks and events.
//
// A [Schedule] says when it fires, and what: a job_exec, or an event to a topic. [Schedules] creates and changes them, on the caller's transaction.
//
// # How it works
//
// Each enabled schedule has one timer in future_job: entity (schedule, id), job_exec [TimerExec]. It waits for the next occurrence t. In the slot of
// t one transaction moves it to the occurrence after t, and
//
//   - puts the event of t into event_outbox, where the schedule names a topic;
//   - inserts the run of the occurrence after t, where it names a job_exec: a check of the same entity, whose tag is the unix second
//     of its occurrence. It is called in its own slot.
//
// The next occurrence comes from the intended time, never from now. No guard ends a timer; doctor names one that has errors.
//
// # Missed
//
// Under [Skip] a run whose worker lost its lease before the commit may end as missed, though it was called.
//
// # Changes
//
// A change locks the row of the schedule, ends what is pending for it, and inserts anew what is to be pending. It waits for a call of the timer, or
// that call finds its timer gone, and is dropped.
//
// A schedule that is created again fires from its deletion on. Package steps alone changes the schedule of a job; others get [ErrOfJob].
//
// # Time zones that change
//
// Workers may have different tzdata. The column utc_offset has the offset by which a timer's time was computed, and the next occurrence is the first with
// a later local time: a daily schedule fires once each local day. After an update of tzdata [Schedules.PlanAnew] puts a timer right.
//
// # Locks of others
//
// Where an app has a schedule locked, a long run and a timer that has to write to it are contested; nothing else waits. A timer
// that the server refuses to move stays in its slot, and is called again. One that is to end is put off until nothing keeps it.
//
// # Special paths
//
// A worker makes 4 calls for timers at a time, not 16: on MariaDB the last of 10,000 runs in a slot was called after 3 s in place of 32
// (scripts/bench/run schedules). The fields of a plain crontab tell that it is not too fine: 3 µs in place of 250 (BenchmarkTooFine of timeline).
package schedule
