package schedule

import (
	"time"

	"prescient/slots"
)

// step is what a timer's call does for its schedule.
type step struct {
	// events are the occurrences whose events are put into the outbox, and runs those whose runs are inserted.
	events, runs []time.Time
	// next is the occurrence that the timer waits for from then on; zero where none is left.
	next time.Time
	// passedOver says that occurrences were passed over: that were missed, or whose events had expired.
	passedOver bool
	// caught is how many missed occurrences have fired so far, where the call's bound left others to the next call; else 0.
	caught int
}

// occurrences are when something is due.
type occurrences interface {
	Next(t time.Time) (time.Time, bool)
}

// call is what a timer's call knows beside its schedule.
type call struct {
	// due is the occurrence that the timer waited for, slot the one in which it is called, and now when.
	due, slot, now time.Time
	// ran says that the run of due was called before its timer.
	ran bool
	// caught is what the step of the call before said.
	caught int
	// most is how many events or runs it may add, beside those of due and of the occurrence that it waits for next.
	most int
}

// fire says what a timer's call does, in a slot of the grid. It is a pure function. The run of due itself is not among its runs:
// that was inserted with the occurrence before.
//
// A call that reaches its bound waits for the first occurrence that it has not sent. The next one goes on with that, whatever CatchUp
// says: what the bound left over is not missed for that. All the same no more than MaxCatchUp missed ones fire in all.
func (s Schedule) fire(line occurrences, grid slots.Grid, c call) step {
	f := &calling{Schedule: s, call: c, line: line, grid: grid}
	goesOn, missed := c.caught > 0, s.missed(grid, c.due, grid.Floor(c.now)) && !c.ran
	switch {
	case missed && s.CatchUp == Skip && !goesOn:
		f.do.passedOver = true
	case s.Topic != "":
		f.fires(c.due)
	}
	most := 1 // missed ones fire in all
	switch {
	case s.CatchUp == All || goesOn:
		most = MaxCatchUp
	case s.CatchUp == Skip:
		most = 0
	}
	n := c.caught
	if missed {
		n++
	}
	if next, ok := f.catchUp(n, most); ok {
		f.do.next = next
		if s.JobExec != "" {
			f.do.runs = append(f.do.runs, next)
		}
	}
	return f.do
}

// calling is a call for a timer under way.
type calling struct {
	Schedule
	call
	line occurrences
	grid slots.Grid
	do   step
}

// fires takes the event or the run of an occurrence.
func (f *calling) fires(t time.Time) {
	switch {
	case f.JobExec != "":
		f.do.runs = append(f.do.runs, t)
	case f.ExpiresAfter == 0 || f.now.Before(t.Add(f.ExpiresAfter)):
		f.do.events = append(f.do.events, t)
	default:
		f.do.passedOver = true
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
	sent, left := 0, f.most
	for next, ok = f.after(f.due); ok; {
		// What is not after this slot fires with it: the timer was late, or the slots became longer since the schedule was made. A run is
		// called in the next open slot, and all else waits for that.
		called := f.grid.Floor(f.now)
		if next.After(f.slot) || f.JobExec != "" {
			called = f.grid.Next(slots.Later(f.slot, f.now))
		}
		missed := f.missed(f.grid, next, called)
		switch {
		case !missed && next.After(f.slot):
			return next, true
		case missed && n >= most:
			f.do.passedOver = true
			next, ok = f.line.Next(f.lastMissed(f.grid, called))
			continue
		case !missed && sent >= MaxCatchUp:
			f.do.passedOver = true
			next, ok = f.line.Next(f.slot)
			continue
		case left <= 0:
			f.do.caught = max(n, 1)
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

// missed says whether what was due at a time is missed in a slot: it is late by more than it may be, and its own slot is over.
func (s Schedule) missed(grid slots.Grid, due, slot time.Time) bool {
	return !due.After(s.lastMissed(grid, slot))
}

// lastMissed is the last time at which something can be due that is missed in a slot.
func (s Schedule) lastMissed(grid slots.Grid, slot time.Time) time.Time {
	last, over := slot.Add(-s.within(grid)-1), slot.Add(-grid.Resolution())
	if over.Before(last) {
		return over
	}
	return last
}

// within is how late an occurrence may be and still fires as usual, to the beginning of the slot in which that is.
func (s Schedule) within(grid slots.Grid) time.Duration {
	if s.CatchUpWithin != 0 {
		return s.CatchUpWithin
	}
	return max(time.Minute, 2*grid.Resolution())
}
