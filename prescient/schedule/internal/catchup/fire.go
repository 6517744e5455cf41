package catchup

import (
	"time"

	"prescient/slots"
)

// Step is what a timer's call does for its schedule.
type Step struct {
	// Events are the occurrences whose events are put into the outbox, and Runs those whose runs are inserted.
	Events, Runs []time.Time
	// Next is the occurrence that the timer waits for from then on; zero where none is left.
	Next time.Time
	// PassedOver says that occurrences were passed over: that were missed, or whose events had expired.
	PassedOver bool
	// Caught is how many missed occurrences have fired so far, where the call's bound left others to the next call; else 0.
	Caught int
}

// Occurrences are when something is due.
type Occurrences interface {
	Next(t time.Time) (time.Time, bool)
}

// Call is what a timer's call knows beside its schedule.
type Call struct {
	// Due is the occurrence that the timer waited for, Slot the one in which it is called, and Now when.
	Due, Slot, Now time.Time
	// Ran says that the run of Due was called before its timer.
	Ran bool
	// Caught is what the step of the call before said.
	Caught int
	// Most is how many events or runs it may add, beside those of Due and of the occurrence that it waits for next.
	Most int
}

// Fire says what a timer's call does, in a slot of the grid. It is a pure function. The run of Due itself is not among its runs:
// that was inserted with the occurrence before.
//
// A call that reaches its bound waits for the first occurrence that it has not sent. The next one goes on with that, however
// few missed ones may fire: what the bound left over is not missed for that. All the same no more than Max missed ones fire in all.
func (r Rules) Fire(line Occurrences, grid slots.Grid, c Call) Step {
	f := &calling{Rules: r, Call: c, line: line, grid: grid}
	goesOn, missed := c.Caught > 0, r.Missed(grid, c.Due, grid.Floor(c.Now)) && !c.Ran
	switch {
	case missed && r.MostMissed == 0 && !goesOn:
		f.do.PassedOver = true
	case !r.Runs:
		f.fires(c.Due)
	}
	most := r.MostMissed
	if goesOn {
		most = Max
	}
	n := c.Caught
	if missed {
		n++
	}
	if next, ok := f.catchUp(n, most); ok {
		f.do.Next = next
		if r.Runs {
			f.do.Runs = append(f.do.Runs, next)
		}
	}
	return f.do
}

// calling is a call for a timer under way.
type calling struct {
	Rules
	Call
	line Occurrences
	grid slots.Grid
	do   Step
}

// fires takes the event or the run of an occurrence.
func (f *calling) fires(t time.Time) {
	switch {
	case f.Runs:
		f.do.Runs = append(f.do.Runs, t)
	case f.ExpiresAfter == 0 || f.Now.Before(t.Add(f.ExpiresAfter)):
		f.do.Events = append(f.do.Events, t)
	default:
		f.do.PassedOver = true
	}
}

// after is the occurrence after another.
func (f *calling) after(t time.Time) (time.Time, bool) {
	if f.MayCoalesce {
		t = f.grid.Ceil(t)
	}
	return f.line.Next(t)
}

// catchUp fires what is to fire after due, where n missed ones have fired, and most may. It returns the occurrence to wait for.
func (f *calling) catchUp(n, most int) (next time.Time, ok bool) {
	sent, left := 0, f.Most
	for next, ok = f.after(f.Due); ok; {
		// What is not after this slot fires with it: the timer was late, or the slots became longer since the schedule was made. A run is
		// called in the next open slot, and all else waits for that.
		called := f.grid.Floor(f.Now)
		if next.After(f.Slot) || f.Runs {
			called = f.grid.Next(slots.Later(f.Slot, f.Now))
		}
		missed := f.Missed(f.grid, next, called)
		switch {
		case !missed && next.After(f.Slot):
			return next, true
		case missed && n >= most:
			f.do.PassedOver = true
			next, ok = f.line.Next(f.lastMissed(f.grid, called))
			continue
		case !missed && sent >= Max:
			f.do.PassedOver = true
			next, ok = f.line.Next(f.Slot)
			continue
		case left <= 0:
			f.do.Caught = max(n, 1)
			return next, true
		case missed:
			n++
		default:
			sent++
		}
		f.fires(next)
		left--
		next, ok = f.after(next)
	}
	return next, ok
}
