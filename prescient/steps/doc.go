// Package steps runs jobs of several steps, whose definitions stand in the database.
//
// A [Job] has crontabs, and steps in order. A [Step] is a registered job_exec and its arguments; [Jobs.PutStep] defines one that several jobs share.
// [Jobs] creates and changes them on the caller's transaction. A job is the long schedule job/<name> with the job_exec [Exec].
//
// # Versions
//
// Each change of a job, or of a shared step that it has, makes a new version in job_version. A run keeps the version that it began with. A row of plain
// SQL that is no definition is listed with the reason.
//
// # A step
//
// A step is called with a [prescient.FutureJob] of the entity (job, name): its arguments are the payload, its name is the tag.
//
//   - nil ends it. An error, a panic, and an answer after its timeout that was not committed with its effects, are failures. A call that
//     ignores the end of its context is abandoned after 40 seconds.
//   - After a failure it is called again as often as Retries says, after RetryWait or as [prescient.Retry] says, never after [prescient.Final]. Then
//     OnFailure says whether the run ends as failed, or goes on.
//   - A returned time moves the run to that time. A time that is over is a failure, and so is one time more than MaxChecks. The run ends as failed
//     where the next occurrence is due before.
//   - The end of what it writes to [output.Of] its context is kept with its log, up to [MaxOutput] bytes.
//
// Steps are called at least once; the effects of a TxFunc or TxBatchFunc commit with the checkpoint, exactly once. A BatchFunc gets one row, a
// longrun.Func a run with a checkpoint of up to [MaxCheckpoint] bytes. Of its guards a step heeds Timeout, MaxChecks and Concurrency, which counts steps
// alone. A step waits while its job_exec is paused.
//
// An agent that lacks the job_exec is an error of the run; the sixth fails it, or the next occurrence.
//
// # The run log
//
// job_run_log has a row for each run, and for each occurrence that was not run; step_run_log one for each call of a step. The call of a dead agent ends
// as crashed at the takeover; until then [Jobs.Runs] shows it as lapsed.
package steps
