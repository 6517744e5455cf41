package bucket

import (
	"context"
	"fmt"

	"prescient/prescient"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/slots"
)

// What is written of a row when the server refuses what its answer comes to: a foreign key of the app keeps it, a trigger or a CHECK refuses it, or
// history does not take its payload. An end without the payload comes first, where it was history that refused. Then the call counts
// as an error, with the waits of errors. One that has no more errors left, or was not called, is put off at growing distances, and is not called any
// more: whoever meets it then tries to end it. If it cannot be moved either, it stays in its slot, marked so.
// The timer of a schedule never ends for that: where it cannot be moved it stays in its slot, and is called again after a while.

// writeOtherwise commits something else of a row, of which the server has refused what was to be written.
func (b *Bucket) writeOtherwise(ctx context.Context, a *check.Answered, cause error) error {
	ends, log := a.Verdict.Outcome != "", b.logRow(a).Err(cause)
	switch {
	case ends && commit.RefusesHistory(cause) && !a.Bare:
		a.Bare, a.Verdict = true, commit.WithoutPayload(a.Verdict, cause)
		log.Msg("the end of a row is written without its payload")
	case ends && a.Refused == check.AsAnswered && a.Answer.Cause == prescient.CauseCalled && a.Answer.Err == nil:
		a.Refused, a.Answer.Err = check.Counted, fmt.Errorf("it could not end as %s: %w", a.Verdict.Outcome, cause)
		a.Verdict = b.decide(a)
		log.Msg("a row cannot be ended; its call counts as an error")
	case !ends && a.Refused == check.AsAnswered && reserved.IsTimer(a.FutureJob):
		a.Refused, a.Verdict.Slot = check.InPlace, a.NextCheckAt
		b.Shared.Kept.add(a, a.Revision+1, b.Shared.Tables.Grid.Resolution())
		b.Figures.Stuck++
		log.Msg("the timer of a schedule cannot be moved; it stays in its slot, and this worker does not call it for a while")
	case !ends && a.Refused == check.AsAnswered:
		a.Refused, a.Bare, a.Verdict = check.EndsInstead, true, commit.WithoutPayload(a.Verdict, cause)
		log.Msg("a row cannot be moved; it ends")
	case ends && a.Refused < check.EndsInstead:
		b.keepRow(a, check.PutOff, cause)
		log.Time("next_slot", a.Verdict.Slot).Msg("a row cannot be ended; it is put off, and not called any more")
	case a.Refused < check.InPlace:
		b.keepRow(a, check.InPlace, cause)
		a.Verdict.Slot = a.NextCheckAt
		b.Shared.Kept.add(a, a.Revision+1, b.Shared.Tables.Grid.Resolution())
		b.Figures.Stuck++
		log.Msg("a row can neither be ended nor moved; it stays in its slot, and is not called any more")
	default:
		b.Shared.Kept.add(a, a.Revision, b.Shared.Tables.Grid.Resolution())
		b.forget([]*check.Answered{a}, func(*check.Answered) bool { return true })
		log.Msg("nothing can be written of a row; it stays, and this worker does not call it for a while")
		return nil
	}
	return b.commit(ctx, []*check.Answered{a}, commit.ByRanges)
}

// keepRow has a row be kept for what the server said. Its errors so far stay counted.
func (b *Bucket) keepRow(a *check.Answered, as check.Refused, cause error) {
	errors := a.Verdict.ErrorCount
	a.Refused, a.Answer.Cause, a.Answer.Err = as, prescient.CauseRefused, cause
	a.Verdict = b.decide(a)
	a.Verdict.ErrorCount = max(errors, a.ErrorCount)
}

func (b *Bucket) decide(a *check.Answered) prescient.Verdict {
	return prescient.Decide(b.Shared.Tables.Grid, a.Guards.Or(b.Shared.Guards(a.JobExec)), a.FutureJob, a.Answer.Given(), slots.Later(a.Answer.Ended, a.NextCheckAt))
}
