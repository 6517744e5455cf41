package recurring

import (
	"context"
	"errors"
	"time"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
)

const (
	// nextShown is how many occurrences are shown, and before and after how many around a change of clocks.
	nextShown              = 10
	beforeChange, behindIt = 3, 4
)

// ahead is when something fires.
type ahead struct {
	Zone   string
	Words  []said
	Times  []occurrence
	Jitter bool
	// Change is when the clocks of the zone are changed next, and Around are occurrences before and after it.
	Change *time.Time
	Around []occurrence
	// TooFine is why it is refused unless it may coalesce, Wrong why nothing can be said.
	TooFine, Wrong string
}

// said is a crontab in words.
type said struct{ Crontab, Words string }

// occurrence is a time, as UTC has it and as the clocks of its zone do.
type occurrence struct {
	At    time.Time
	Local string
}

// aheadOf says when a timing fires next, which is that of a schedule of an id that was made at a time, or of one that would be made now. Of one that is
// wrong it says so.
func aheadOf(ctx context.Context, a front.Asked, t definition.Timing, id string, made time.Time) (ahead, error) {
	is := ahead{Zone: t.Zone, Jitter: t.JitterMS > 0}
	if is.Zone == "" {
		is.Zone = "UTC"
	}
	asked := definition.Previewed{Crontabs: t.Crontabs, Zone: is.Zone, Count: nextShown, MadeAt: made, ID: id, JitterMS: t.JitterMS}
	got, err := ops.PreviewSchedule.Do(ctx, a.Ops, a.By, asked)
	if errors.Is(err, prescient.ErrInvalid) {
		is.Wrong = err.Error()
		return is, nil
	}
	if err != nil {
		return is, err
	}
	is.Times, is.Change = shownOf(got.Times), got.ClocksChange
	if !t.MayCoalesce {
		is.TooFine = got.TooFine
	}
	for i, words := range got.Words {
		is.Words = append(is.Words, said{t.Crontabs[i], words})
	}
	if is.Change == nil {
		return is, nil
	}
	// A rare one is seen from far away, and one of each minute from nearby.
	for _, before := range []time.Duration{35 * 24 * time.Hour, 50 * time.Hour, 4 * time.Hour, 10 * time.Minute} {
		asked.From, asked.Count = is.Change.Add(-before), 60
		if got, err = ops.PreviewSchedule.Do(ctx, a.Ops, a.By, asked); err != nil {
			return is, err
		}
		if n := len(got.Times); n < asked.Count || got.Times[n-1].At.After(*is.Change) {
			is.Around = around(shownOf(got.Times), *is.Change)
			break
		}
	}
	return is, nil
}

// around are the last before a change and the first from it on.
func around(all []occurrence, change time.Time) []occurrence {
	at := 0
	for at < len(all) && all[at].At.Before(change) {
		at++
	}
	return all[max(0, at-beforeChange):min(len(all), at+behindIt)]
}

func shownOf(all []definition.Occurrence) (shown []occurrence) {
	for _, o := range all {
		local := o.Local
		if t, err := time.Parse(time.RFC3339Nano, local); err == nil {
			local = t.Format("Mon 2006-01-02 15:04:05 -07:00")
		}
		shown = append(shown, occurrence{o.At, local})
	}
	return shown
}
