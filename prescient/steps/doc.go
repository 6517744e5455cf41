// Package steps runs jobs of several steps, whose definitions stand in the database.
//
// A [Job] says when it runs, by crontabs, and which steps it takes, in order. A [Step] is a registered job_exec and its arguments; one
// that several jobs share is defined once ([Jobs.PutStep]), and a job names it. [Jobs] creates and changes them on the caller's
// transaction, and calls them: an agent whose registry has [Jobs.Register].
//
// # How a job lies on the engine
//
// A job is a schedule that is long, job/<name>, which runs the job_exec [Exec]: when it fires, what becomes of missed occurrences,
// overlap, quota, pause and runs by hand are those of package schedule. A run is one long run of package longrun, its steps one after
// another in it. So it has one agent at a time, whose lease and token guard every write of it.
//
// # Versions
//
// Each change of a job makes a new version of it, which job_version keeps whole, with the shared steps as they are then; and a change of
// a shared step makes a new version of each job that has it. A run reads the version that is current when it begins, and keeps it:
// also after a crash, on another agent. A change takes effect with the next run that begins, without a restart. Where it moves the
// occurrence that is to come, that is at the next slot; what has begun goes on.
//
// What plain SQL has written and is no definition has its name alone in lists, which say why; it stops no change of another job, nor of a
// shared step that it names. An update puts a definition in its place.
//
// # A step
//
// A step is called with a [prescient.FutureJob] of the entity (job, name), with its arguments for the payload and its name for the tag.
//
//   - nil ends it, an error is its failure. So is a panic, and an answer that comes after its timeout, unless it was committed with its effects. A
//     call that ignores the end of its context is abandoned after 40 seconds, and the run goes on.
//   - After a failure it is called again as often as Retries says, RetryWait after the last call, by the database's clock. Then OnFailure
//     says whether the run ends as failed, or goes on with the next step.
//   - A returned time means: call this step again then. The run moves to that time and holds no place till then. As often as
//     MaxChecks of the guards of the job_exec; one time more is a failure, and so is a time that is over. If the next occurrence of the job
//     is due before that, the run ends as failed.
//   - What it writes to [output.Of] its context is kept with its log: the end, up to [MaxOutput] bytes.
//
// Each form of a job_exec is called as it is anywhere, a BatchFunc with one row. A longrun.Func gets a run with a checkpoint of its own,
// of up to [MaxCheckpoint] bytes. The effects of a TxFunc and a TxBatchFunc commit with the checkpoint: exactly once. All other steps are called at
// least once: the one that was under way when its agent died is called again. Of the guards of a job_exec a step heeds Timeout, MaxChecks,
// and Concurrency where one is given: so many are called at a time in a process as steps, beside those of checks; a run whose step waits for
// that holds its place. It waits, as a check does, while its job_exec is paused.
//
// A run whose step names a job_exec that its agent does not have ends this call with an error, which is tried again as that of any
// check, on whichever agent has the slot then; with the sixth, or where the next occurrence is due, the run ends as failed.
//
// # The run log
//
// job_run_log has a row for each run, and for each occurrence that was not run (as overlapped, too_soon, expired); step_run_log one for each
// call of a step. They are written in the transactions that save the checkpoint and end the run, under its token: so an agent that has
// lost a run writes no line of it. The call of a step whose agent died ends as crashed when another takes the run over; until then
// [Jobs.Runs] shows it as lapsed, by the lease. Only a run whose job was deleted while nobody had it is never ended by anyone: Runs tells
// from history how that ended.
package steps
