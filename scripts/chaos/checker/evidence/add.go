package evidence

import "slices"

// Add adds what a further shard has that took the place of part of another.
func (t *Tables) Add(o Tables) {
	t.Pending, t.Ended = append(t.Pending, o.Pending...), append(t.Ended, o.Ended...)
	t.Schedules.Rows, t.Schedules.Jobs = append(t.Schedules.Rows, o.Schedules.Rows...), append(t.Schedules.Jobs, o.Schedules.Jobs...)
	t.Schedules.Outbox = append(t.Schedules.Outbox, o.Schedules.Outbox...) // each key lies on one
	t.LongRuns = append(t.LongRuns, o.LongRuns...)
	t.Jobs.Ends, t.Jobs.Runs, t.Jobs.Calls = append(t.Jobs.Ends, o.Jobs.Ends...), append(t.Jobs.Runs, o.Jobs.Runs...), append(t.Jobs.Calls, o.Jobs.Calls...)
	if o.Sums != nil {
		if t.Sums == nil {
			t.Sums = &Sums{}
		}
		t.Sums.History, t.Sums.Hours, t.Sums.Days = append(t.Sums.History, o.Sums.History...), append(t.Sums.Hours, o.Sums.Hours...), append(t.Sums.Days, o.Sums.Days...)
		t.Sums.Noted, t.Sums.Why, t.Sums.Ran = append(t.Sums.Noted, o.Sums.Noted...), append(t.Sums.Why, o.Sums.Why...), append(t.Sums.Ran, o.Sums.Ran...)
	}
	t.Changes.Written, t.Changes.Skipped = t.Changes.Written+o.Changes.Written, t.Changes.Skipped+o.Changes.Skipped
	t.Changes.Twice, t.Changes.Phantom = t.Changes.Twice+o.Changes.Twice, t.Changes.Phantom+o.Changes.Phantom
	t.AllClaims = t.AllClaims && o.AllClaims
	t.AddOwn(o)
}

// AddOwn adds of what a shard has that was divided what is not copied to those in its place: its books, and what the run itself keeps.
func (t *Tables) AddOwn(o Tables) {
	t.Runs, t.Lines, t.Claims = append(t.Runs, o.Runs...), append(t.Lines, o.Lines...), append(t.Claims, o.Claims...)
	t.Effects, t.Jobs.Effects = append(t.Effects, o.Effects...), append(t.Jobs.Effects, o.Jobs.Effects...)
	for _, s := range o.Starts { // one that was copied with its run is noted on both
		if !slices.ContainsFunc(t.Starts, func(is Start) bool { return is.Schedule == s.Schedule && is.Tag == s.Tag && is.Token == s.Token }) {
			t.Starts = append(t.Starts, s)
		}
	}
	slices.SortStableFunc(t.Starts, func(a, b Start) int { return a.At.Compare(b.At) })
}

// Name names whose ledger it is.
func (t *Tables) Name(of Of) {
	for i := range t.Runs {
		t.Runs[i].Of = of
	}
	for i := range t.Claims {
		t.Claims[i].Of = of
	}
}
