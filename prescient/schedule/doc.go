// Package schedule turns crontabs into work, on the engine of the checks.
//
// A [Schedule] says when it fires (crontabs in a zone), and what: a job_exec, or an event to a topic. [Schedules] creates and
// changes them, on the caller's transaction. A worker whose registry has [Schedules.Register] fires them.
//
// # How it works
//
// Each enabled schedule has one timer in future_job: entity (schedule, id), job_exec [TimerExec]. It waits for the next occurrence
// t. In the slot of t one transaction moves it to the occurrence after t, and
//
//   - puts the event of t into event_outbox, where the schedule names a topic;
//   - inserts the run of the occurrence after t, where it names a job_exec. So a run is there one occurrence ahead, and is called
//     in its own slot. It is a check like any other, of the same entity, whose tag is the unix second of its occurrence. Its
//     retries, timeouts and errors are its own; two may wait at once.
//
// The next occurrence comes from the intended time, never from now: a late timer does not make the next one late. A timer is never
// ended by a guard. An error moves it to the next open slot, with its due time; doctor names such timers.
//
// # Late and missed
//
// What is late by at most CatchUpWithin fires as usual. What is later is missed, and CatchUp says what becomes of it. The time of
// an occurrence is that of its due second, whatever its slot.
//
// A run under [Skip] that was called, and whose worker lost its lease before the answer was committed, may end as missed: nothing of the
// call is left to tell it from one that was never made.
//
// # Time zones that change
//
// Each machine has a time zone database of its own, tzdata: that of its system, or, where there is none, that of the program. A row of
// schedule has the UTC offset by which its timer's time was computed, in utc_offset, where a crontab has fixed local times; it is written
// when it changes. The next occurrence is the first whose local time is after that. So workers with different tzdata fire a daily
// schedule once each local day, at the time of whoever computed it, and so does one after an update. Crontabs for all 24 hours, @every
// and @at go by instants. A run that is there, one ahead, keeps its time.
//
// After an update of tzdata restart each program: Go reads a zone once. A program without zones of its machine is to be built anew. What
// timers wait for already stays as it was computed: the next occurrence of each comes by the old rules. doctor names these, and
// [Schedules.PlanAnew], or schedule update with the id alone, puts one to its time by the zones of the machine on which it is called.
// Rows from before the column was there, and schedules that plain SQL inserted, have their offset after the next call of their timer.
//
// # Changes
//
// Every change locks the row of the schedule, then ends what is pending for it, and inserts anew what is to be pending. The timer's
// call locks the timer before it reads the schedule. So a change either waits for the call, and finds what that inserted; or comes
// first, and the call finds that its timer is gone, and is dropped. A run that a change ended is called no more; one that is under
// way is not interrupted, and its answer is dropped.
//
// An update ends nothing that was due before it. Its run goes on under the new definition, with its times and counts, as a row of another
// revision: whoever was calling it finds that as the answer is to be committed, and ends it as superseded. Events that were due are sent by the
// new definition.
//
// A pause drops nothing that was due before it. Where the timer was not called yet, the pause does what its call would: it puts the events
// into the outbox, or inserts the runs that CatchUp says. Resume fires from now on, and from the time of the pause on where the clock was put back
// since. So does a schedule that is created again: from its deletion on, which the audit knows. One that plain SQL inserts again is another
// one: by a clock that was put back its occurrences may have ids that were there before.
//
// # Locks of others
//
// An app's transaction may stay open for minutes, and have a schedule locked: that of RunNow, of a change, or of a Create that finds it there.
// Nothing waits for it but what needs that row. A long run is contested then, and so is a timer that has to write to the schedule: it is tried
// again while its bucket waits for locked rows, then by each sweep, and takes no place of a slot. On MariaDB a timer that moves also
// meets the lock of the row after it in UNIQUE (job_key), which may be another schedule's.
//
// # What cannot be moved or ended
//
// A foreign key or a trigger of the app may refuse what becomes of a timer. One that cannot be moved stays in its slot, holds up no other, and
// is called again after a while; nothing of its calls is there until then. One that is to end fires for the last time, and is put off until
// nothing keeps it.
//
// # Schedules of jobs
//
// The schedule of a job of steps is made and changed by package steps alone: here all that would change it returns [ErrOfJob]. A change of
// it ends the run of the occurrence that is to come, and inserts that anew; what has begun goes on.
//
// # Special paths
//
// A worker makes 4 calls for timers at a time, and not 16 as for other job_execs: on MariaDB the last of 10,000 runs in a slot was
// called after 3 s in place of 32 (scripts/bench/run schedules). That crontabs are not too fine is seen by their fields, where
// that is plain, and not by a thousand occurrences: 3 µs of the client in place of 250 for each schedule that is created (BenchmarkTooFine
// of package timeline).
package schedule
