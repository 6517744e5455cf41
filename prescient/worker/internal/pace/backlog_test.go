package pace

import (
	"testing"
	"time"
)

func TestTheTimeOfARun(t *testing.T) {
	const within, late, resolution = 30 * time.Second, 5 * time.Minute, 15 * time.Minute
	for _, test := range []struct {
		name                               string
		lateness, within, late, resolution time.Duration
		again                              bool
		want                               time.Duration
	}{
		{"it begins at its slot", 0, within, late, resolution, false, within},
		{"a moment later", 5 * time.Second, within, late, resolution, false, 25 * time.Second},
		{"half of its time is over", 15 * time.Second, within, late, resolution, false, 15 * time.Second},
		{"more than half is", 16 * time.Second, within, late, resolution, false, late},
		{"its time is less than it takes to begin", 10 * time.Millisecond, time.Millisecond, late, resolution, false, -9 * time.Millisecond},
		{"all of it is", time.Minute, within, late, resolution, false, late},
		{"... and the next slot comes soon: no longer than until the one after that", 20 * time.Second, 6 * time.Second, late, time.Minute, false, time.Minute},
		{"it has more time left than what is late has", 31 * time.Minute, time.Hour, late, 24 * time.Hour, false, 29 * time.Minute},
		{"its rows came late", 0, within, late, resolution, true, late},
		{"... long after", 10 * time.Minute, within, late, resolution, true, late},
		{"the database's clock was set forth", 26 * time.Hour, within, late, resolution, false, late},
		{"it was set back", -26 * time.Hour, within, late, resolution, false, within},
	} {
		if got := TimeFor(test.lateness, test.within, test.late, test.resolution, test.again); got != test.want {
			t.Errorf("%s: %s; want %s", test.name, got, test.want)
		}
	}
}

// caughtUp is what a simulated backlog came to.
type caughtUp struct {
	took    time.Duration
	most    int // the largest step
	yielded int // rows that were written while a slot of now was run
}

// sweep catches up slots of so many rows each by looks alone. A slot takes 5 ms beside its rows. Those of now come every
// distance, and are run for some time.
func sweep(t *testing.T, list []int, within, distance, now time.Duration) (c caughtUp) {
	t.Helper()
	const bucket, tick = 2000, 5 * time.Millisecond
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	yields := func() bool { return distance > 0 && c.took%distance < now }
	b := NewBacklog(Effort{Buckets: 4, Rows: 2000}, bucket, within, yields)
	run := b.Run(Effort{Buckets: 4, Rows: 2000})
	owed := 0.0
	for i, rows := range list {
		b.Starts(start.Add(c.took), len(list)-1-i)
		buckets := max(rows/bucket, 1)
		for written := 0; written < rows; {
			c.took += tick
			if c.took > time.Hour {
				t.Fatal("it never ended")
			}
			step, least := run.at.step, run.Effort() == run.steps[0]
			if least {
				step = 0
			}
			c.most = max(c.most, step)
			owed += rates[step] * tick.Seconds()
			n := min(int(owed), rows-written)
			owed -= float64(n)
			written += n
			run.Wrote(n, start, 0)
			if yields() {
				c.yielded += n
			}
			ended := min(written*buckets/rows, buckets)
			b.Look(start.Add(c.took), Ledger{Buckets: buckets, Finished: ended, Written: ended * (rows / buckets), InThose: ended * (rows / buckets)})
		}
		c.took += tick
		owed = min(owed, 1)
	}
	return c
}

// slotsOf is so many slots of so many rows.
func slotsOf(slots, rows int) []int {
	list := make([]int, slots)
	for i := range list {
		list[i] = rows
	}
	return list
}

func TestABacklogIsCaughtUpInTimeWithAsLittleAsThatTakes(t *testing.T) {
	const within = 5 * time.Minute
	for _, test := range []struct {
		name string
		list []int
		took time.Duration // at most
		most int           // the largest step
	}{
		{"one slot that is late", slotsOf(1, 200_000), 70 * time.Second, 0},
		{"as much as the first step ends", slotsOf(1, 800_000), within, 1},
		{"rows that came to many finished slots", slotsOf(2000, 1), 30 * time.Second, 0},
		{"an outage of a day at quarters of an hour", slotsOf(96, 20_000), within, 3},
		{"a long one of small slots", slotsOf(10_000, 100), within, 3},
		{"a long one of large slots: the time is that of all of them", slotsOf(30, 200_000), within, 6},
		{"the first slot is large, and the others might be", append(slotsOf(1, 200_000), slotsOf(95, 100)...), 80 * time.Second, 6},
		{"the last slot is large", append(slotsOf(95, 100), slotsOf(1, 400_000)...), within, 1},
		{"more than there is time for: as fast as the server allows", slotsOf(100, 500_000), 510 * time.Second, 7},
	} {
		if c := sweep(t, test.list, within, 0, 0); c.took > test.took || c.most > test.most {
			t.Errorf("%s: it took %s, up to step %d; want %s and %d", test.name, c.took, c.most, test.took, test.most)
		}
	}
}

func TestWhileASlotOfNowIsRunABacklogTakesTheLeast(t *testing.T) {
	c := sweep(t, slotsOf(30, 100_000), 5*time.Minute, 30*time.Second, 10*time.Second)
	if least := int(rates[0] * 10 * float64(c.took/(30*time.Second)+1)); c.yielded == 0 || c.yielded > least {
		t.Errorf("%d rows were caught up beside slots of now; want no more than %d, and some", c.yielded, least)
	}
	if c.took > 5*time.Minute {
		t.Errorf("it took %s", c.took)
	}
}

// After the last slot the next backlog begins with the least, and has its time.
func TestABacklogThatHasEndedIsForgotten(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	b := NewBacklog(Effort{Buckets: 4, Rows: 2000}, 2000, time.Minute, func() bool { return false })
	run := b.Run(Effort{Buckets: 4, Rows: 2000})
	least := run.Effort()
	b.Starts(at, 0)
	b.Look(at.Add(2*time.Minute), Ledger{Buckets: 9})
	if run.Effort() == least {
		t.Fatal("its time is over, and it takes the least")
	}
	b.Ends()
	b.Starts(at.Add(3*time.Minute), 0)
	run.Wrote(500, at, 0)
	b.Look(at.Add(3*time.Minute+5*time.Second), Ledger{Buckets: 1})
	if run.Effort() != least {
		t.Errorf("the next begins with %+v; want %+v", run.Effort(), least)
	}
}

// What a slot of another most has learned holds for the steps that both have.
func TestABacklogGoesOnWhereAServerIsFarAway(t *testing.T) {
	b := NewBacklog(Effort{Buckets: 4, Rows: 2000}, 2000, time.Minute, func() bool { return false })
	run := b.Run(Effort{Buckets: 4, Rows: 2000})
	run.at.step = 7
	run.committed(10, time.Millisecond)
	run.probes[4].best = time.Millisecond
	if b.Run(Effort{Buckets: 8, Rows: 1000}); run.Effort() != (Effort{8, 1000, 0}) {
		t.Errorf("%+v", run.Effort())
	}
	if run.probes[4].best != time.Millisecond || run.probes[7].best != 0 {
		t.Error("it knows nothing of the steps that are the same, or something of those that are not")
	}
	run.at.step = len(run.steps) - 1
	if b.Run(Effort{Buckets: 1, Rows: 10}); run.Effort() != (Effort{1, 10, 0}) {
		t.Errorf("%+v; want the most that there is now", run.Effort())
	}
}

// The rests of a backlog are kept from bucket to bucket: small slots would have none. A slot whose time has come has no such.
func TestSmallSlotsOfABacklogRest(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	b := NewBacklog(Effort{Buckets: 4, Rows: 2000}, 2000, time.Minute, func() bool { return false })
	late, own := b.Run(Effort{Buckets: 4, Rows: 2000}), New(Effort{Buckets: 4, Rows: 2000})
	for _, r := range []*Run{late, own} {
		if got := r.Wrote(10, at, 2*time.Millisecond); got != at.Add(6*time.Millisecond) {
			t.Errorf("a bucket rests until %s", got)
		}
		if got := r.Wrote(10, at, time.Minute); got != at.Add(longestRest) {
			t.Errorf("a bucket rests until %s after a long commit", got)
		}
	}
	if late.RestUntil() != at.Add(longestRest) || !own.RestUntil().IsZero() {
		t.Errorf("the next bucket rests until %s in a backlog, and %s in a slot of now", late.RestUntil(), own.RestUntil())
	}
}
