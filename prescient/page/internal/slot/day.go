package slot

import (
	"context"
	"errors"
	"html/template"
	"time"

	"prescient/prescient/client"
	"prescient/prescient/forecast"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// daySlots is how many slots the view has at most: a day of the usual resolution.
const daySlots = 96

// daySeen is what the template gets.
type daySeen struct {
	ops.Clock
	First, Last  time.Time
	Before, Next time.Time // where the views before and behind this one begin
	Slots        []around
	Chart        template.HTML
	Cut          bool
	// Counted are the checks that wait for each slot, where they were counted.
	Counted map[time.Time]ops.SlotLoad
	Exact   bool
	// Days are those of the forecast; MadeAt is when it was made, nil for never.
	Days   []forecast.Part
	MadeAt *time.Time
}

func showDay(ctx context.Context, a front.Asked) (front.Shown, error) {
	clock, err := ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{})
	if err != nil {
		return front.Shown{}, err
	}
	from, exact := a.Time("from"), a.Text("count") == "exact"
	if err := a.Err(); err != nil {
		return front.Shown{}, err
	}
	is := daySeen{Clock: clock, Exact: exact, Counted: make(map[time.Time]ops.SlotLoad)}
	long := min(24*time.Hour, daySlots*clock.Resolution())
	if from.IsZero() {
		from = clock.Now.Truncate(24 * time.Hour)
		if long < 24*time.Hour {
			from = clock.Slot.Add(-long / 2)
		}
	}
	is.First = from.Truncate(clock.Resolution()) // which divides the day
	is.Before, is.Next = is.First.Add(-long), is.First.Add(long)
	is.Last = is.Next.Add(-clock.Resolution())
	s := span{now: clock.Now, resolution: clock.Resolution(), first: is.First, last: is.Last}
	if _, err = s.read(ctx, a); err != nil {
		return front.Shown{}, err
	}
	is.Slots, is.Cut = s.slots(), s.cut
	if is.Chart, err = drawn(is.Slots, clock.Now).SVG(); err != nil {
		return front.Shown{}, err
	}
	told, err := ops.GetForecast.Do(ctx, a.Ops, a.By, ops.ForecastAsked{})
	switch {
	case errors.Is(err, forecast.ErrNone):
	case err != nil:
		return front.Shown{}, err
	default:
		is.Days, is.MadeAt = told.Days, &told.MadeAt
	}
	if exact {
		loads, err := ops.LoadSlots.Do(ctx, a.Ops, a.By, ops.SlotsAsked{SlotSpan: ops.SlotSpan{From: is.First, Before: is.Next}, Paging: ops.Paging{Limit: daySlots + 1}})
		if err != nil {
			return front.Shown{}, err
		}
		for _, l := range loads.Rows {
			is.Counted[l.Slot.UTC()] = l
		}
	}
	return front.Shown{Data: is, Again: front.UntilSlot(clock.Now, clock.Resolution())}, nil
}

// totals are the sums of the buckets of a slot.
type totals struct {
	Done, Moved, PutOff, Dropped int64
	Takeovers                    int
	Ends                         map[string]int64
}

func sum(buckets []client.Bucket) totals {
	t := totals{Ends: make(map[string]int64)}
	for _, b := range buckets {
		t.Done, t.Moved, t.PutOff, t.Dropped, t.Takeovers = t.Done+done(b), t.Moved+b.Moved, t.PutOff+b.PutOff, t.Dropped+b.Dropped, t.Takeovers+b.Takeovers
		for outcome, n := range b.Ends {
			t.Ends[string(outcome)] += n
		}
	}
	return t
}
