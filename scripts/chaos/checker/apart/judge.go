package apart

import (
	"slices"
	"time"
)

// Judge decides about all runs of a schedule, in any order.
func (j Rules) Judge(runs []*Run) {
	var started []*Run
	for _, r := range runs {
		if len(r.Calls) > 0 {
			started = append(started, r)
		}
	}
	slices.SortStableFunc(started, func(a, b *Run) int { return a.first().Compare(b.first()) })
	for i, r := range started {
		if r.Terms.Apart {
			j.distance(r, started[:i])
			j.goesOn(r, started[:i])
		}
		j.within(r)
		j.quota(r)
		j.stops(r)
		j.retries(r)
	}
	for _, r := range runs {
		j.end(r, runs)
	}
}

func stamp(t time.Time) string { return t.UTC().Format("15:04:05.999999") }

// earliest is when a run may start, after another that did.
func (t Terms) earliest(after *Run) time.Time { return after.first().Add(t.Interval - t.Tolerance) }

// distance decides whether a run started long enough after the one before it. Both read the clock under the lock of the schedule.
func (j Rules) distance(r *Run, before []*Run) {
	if len(before) == 0 || r.Terms.Interval == 0 {
		return
	}
	last := before[len(before)-1]
	if earliest := r.Terms.earliest(last); r.first().Before(earliest) {
		j.Find("too-soon", r, "it started at %s, and the one before it at %s: the earliest is %s", stamp(r.first()), stamp(last.first()), stamp(earliest))
	}
}

// goesOn decides whether a run goes on from the checkpoint of the run before it, which is the one that ended last, unless that was
// done. What an app has ended leaves its checkpoint or none. Those that had ended when the last one started were forgotten then.
func (j Rules) goesOn(r *Run, before []*Run) {
	at := slices.IndexFunc(r.Calls, func(c Call) bool { return c.Told })
	if at < 0 {
		return
	}
	from, none := r.Calls[at].From, true
	for i, o := range before {
		soonest, latest := o.Ended.Add(-j.Within), o.Ended.Add(j.Within)
		if o.Outcome == "" || soonest.After(r.first()) || i < len(before)-1 && latest.Before(before[len(before)-1].first()) {
			continue
		}
		kept, tried, told := steps(o.Calls)
		switch {
		case !told, o.byApp() && from == 0, o.Outcome == done && from == 0, o.Outcome != done && kept <= from && from <= tried:
			return
		}
		none = none && latest.After(r.first())
	}
	switch {
	case from == 0 && none: // it begins anew
	case len(before) == 0:
		j.Find("checkpoint", r, "it went on from step %d, and is the first", from)
	default:
		last := before[len(before)-1]
		kept, tried, _ := steps(last.Calls)
		j.Find("checkpoint", r, "it went on from step %d; the one before it ended as %s, with %d to %d steps saved", from, last.Outcome, kept, tried)
	}
}

// within decides whether each call went on from where those before it had come to.
func (j Rules) within(r *Run) {
	for i, c := range r.Calls {
		if kept, tried, ok := steps(r.Calls[:i]); ok && c.Told && (c.From < kept || c.From > tried) {
			j.Find("checkpoint", r, "%s went on from step %d; %d to %d had been saved", c.Worker, c.From, kept, tried)
		}
	}
}

// quota decides whether calls ended when the quota was used up.
func (j Rules) quota(r *Run) {
	if r.Terms.Quota == 0 || r.Goes.Quota == 0 {
		return
	}
	j.silentFrom("quota", r, r.first().Add(max(r.Terms.Quota, r.Goes.Quota)), "its quota was used up")
}

// stops decides whether calls ended once an app had ended the run: the renewal of its lease tells.
func (j Rules) stops(r *Run) {
	if r.byApp() {
		j.silentFrom("cancelled", r, r.Ended.Add(j.Lease), "it was "+r.Outcome+", and a lease longer")
	}
}

// silentFrom decides whether no step began after a time.
func (j Rules) silentFrom(rule string, r *Run, from time.Time, why string) {
	for _, c := range r.Calls {
		for _, s := range c.Steps {
			if late := s.At.Sub(from); late > j.Within && !j.Held(c.Worker, s.Moment-late, s.Moment) {
				j.Find(rule, r, "%s began step %d at %s, %s after %s", c.Worker, s.N, stamp(s.At), late, why)
			}
		}
	}
}

// retries decides whether a run was tried again only before the next occurrence was due. What lapses in its next try is taken over later.
func (j Rules) retries(r *Run) {
	for i := 1; i < len(r.Calls); i++ {
		c, before := r.Calls[i], r.Calls[i-1]
		if next := slices.MaxFunc([]time.Time{r.Terms.Next, r.Goes.Next}, time.Time.Compare); c.Told && before.Told && c.Errors == before.Errors+1 && !next.IsZero() && !c.At.Before(next) {
			j.Find("retry", r, "%s tried it again at %s, and the next occurrence was due at %s", c.Worker, stamp(c.At), stamp(next))
		}
	}
}

// end decides how a run ended.
func (j Rules) end(r *Run, all []*Run) {
	if n := len(r.Calls); n > 0 && r.Outcome != "" && r.Calls[n-1].At.After(r.Ended.Add(j.Within)) {
		j.Find("fenced", r, "it ended at %s, and %s was given it at %s", stamp(r.Ended), r.Calls[n-1].Worker, stamp(r.Calls[n-1].At))
	}
	switch r.Outcome {
	case missed, tooSoon, overlapped:
		if len(r.Calls) > 0 {
			j.Find("outcome", r, "it ended as %s, and had started at %s", r.Outcome, stamp(r.first()))
		}
	}
	switch r.Outcome {
	case tooSoon:
		j.tooSoon(r, all)
	case overlapped:
		j.overlapped(r, all)
	case quota:
		usedUp := func(t Terms) bool {
			return len(r.Calls) > 0 && t.Quota > 0 && !r.Ended.Add(j.Within).Before(r.first().Add(t.Quota))
		}
		if !usedUp(r.Terms) && !usedUp(r.Goes) && !usedUp(r.Ends) {
			j.Find("quota", r, "it ended as quota at %s; it had started at %s, and may take %s", stamp(r.Ended), stamp(r.first()), r.Goes.Quota)
		}
	case crashed:
		if len(r.Calls) <= j.MaxErrors {
			j.Find("outcome", r, "it ended as crashed, and %d agents had been given it", len(r.Calls))
		}
	case failed:
		j.failed(r)
	case done:
		if n := len(r.Calls); n == 0 || r.Calls[n-1].Worker != r.Worker || !r.Calls[n-1].Done {
			j.Find("fenced", r, "%s ended it as done, and its last call did not: %+v", r.Worker, r.Calls)
		}
	}
}

// That a run ends uncalled is decided after the slot has begun in which it was met last: beforeEnd and afterSlot say whether a time may
// have come before that decision, and after it.
func (j Rules) beforeEnd(r *Run, t time.Time) bool { return !t.After(r.Ended.Add(j.Within)) }
func (j Rules) afterSlot(r *Run, t time.Time) bool { return t.After(r.Slot) }

// tooSoon decides whether another had started so late that a run had to end as too_soon.
func (j Rules) tooSoon(r *Run, all []*Run) {
	if !r.Terms.Apart || !slices.ContainsFunc(all, func(o *Run) bool {
		return o != r && len(o.Calls) > 0 && j.beforeEnd(r, o.first()) && j.afterSlot(r, r.Terms.earliest(o))
	}) {
		j.Find("too-soon", r, "it ended as too_soon at %s, and no run had started less than %s before that", stamp(r.Ended), r.Terms.Interval-r.Terms.Tolerance)
	}
}

// overlapped decides whether another was under way, and where one may wait for that, whether another did.
func (j Rules) overlapped(r *Run, all []*Run) {
	underWay, waits := false, false
	for _, o := range all {
		switch {
		case o == r:
		case len(o.Calls) > 0 && j.beforeEnd(r, o.first()) && j.afterSlot(r, j.over(o)):
			underWay = true
			waits = waits || j.afterSlot(r, o.first()) // it may have started between
		case len(o.Calls) == 0 || !j.beforeEnd(r, o.first()):
			waits = waits || o.Due.Before(r.Ended) && (o.Outcome == "" || j.afterSlot(r, o.Ended.Add(j.Within)))
		}
	}
	if !r.Terms.Apart || !underWay || r.Terms.Queue && !waits {
		j.Find("overlapped", r, "it ended as overlapped at %s; another was under way: %t, another waited: %t", stamp(r.Ended), underWay, waits)
	}
}

// over is when nobody has a run any more, at the latest. What an app has ended stays with its agent until that notices, or its lease is over.
func (j Rules) over(r *Run) time.Time {
	switch {
	case r.Outcome == "":
		return r.Slot.AddDate(1, 0, 0)
	case !r.byApp():
		return r.Ended.Add(j.Within)
	}
	over := r.Ended
	for _, c := range r.Calls {
		for _, s := range c.Steps {
			if s.At.After(over) {
				over = s.At
			}
		}
	}
	return over.Add(2*j.Lease + j.Within)
}

// failed decides whether a run that failed had no try left: by its number of errors, or since the next occurrence came.
func (j Rules) failed(r *Run) {
	errors := -1
	for _, c := range r.Calls {
		if c.Told && c.Failed {
			errors = max(errors, c.Errors)
		}
	}
	if errors < 0 {
		j.Find("retry", r, "it ended as failed, and no call did")
		return
	}
	// It would wait for 1, 2, 4 slots, from the next one on.
	latest := r.Ended.Add(time.Duration(1+1<<errors) * j.Resolution)
	tooLate := func(t Terms) bool { return !t.Next.IsZero() && !latest.Before(t.Next) }
	if next := r.Goes.Next; errors < j.MaxErrors && !tooLate(r.Goes) && !tooLate(r.Ends) {
		j.Find("retry", r, "it ended as failed at %s after %d errors, and the next occurrence is due at %s", stamp(r.Ended), errors+1, stamp(next))
	}
}
