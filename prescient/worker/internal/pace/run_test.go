package pace

import (
	"testing"
	"time"
)

func TestFullIsAlwaysTheMost(t *testing.T) {
	most := Effort{Buckets: 4, Rows: 2000}
	r := Full(most)
	for range 100 {
		r.Committed(time.Second)
	}
	if got := r.Look(Seen{Remains: 1, Rate: 1e9, Left: time.Hour}); got != most || r.Effort() != most || r.Adapts() {
		t.Errorf("%+v, adapts: %t; want %+v", got, r.Adapts(), most)
	}
}

// committed takes note of so many commits.
func (r *Run) committed(n int, took time.Duration) {
	for range n {
		r.Committed(took)
	}
}

func TestARunGoesDownWhereItsCommitsTakeMuchLonger(t *testing.T) {
	busy := Seen{Remains: 1000, Rate: 900, Left: time.Second} // a bit more is asked for, each time
	r := New(Effort{Buckets: 4, Rows: 2000}, true)
	r.committed(10, time.Millisecond)
	if got := r.Look(busy); got != (Effort{1, 500, 0}) {
		t.Fatalf("%+v; want more", got)
	}
	r.committed(10, 4*time.Millisecond) // at a larger effort commits take longer: that is its best
	if got := r.Look(busy); got != (Effort{2, 500, 0}) {
		t.Fatalf("%+v; want more, since the best of another effort counts for nothing", got)
	}
	r.committed(10, 5*time.Millisecond)
	r.committed(2, 16*time.Millisecond) // chance
	if got := r.Look(busy); got != (Effort{2, 1000, 0}) {
		t.Fatalf("%+v; want more", got)
	}
	r.committed(10, 5*time.Millisecond)
	r.committed(30, 16*time.Millisecond)
	if got := r.Look(busy); got != (Effort{2, 500, 0}) {
		t.Fatalf("%+v; want less", got)
	}
	for range restLooks {
		if got := r.Look(busy); got != (Effort{2, 500, 0}) {
			t.Fatalf("%+v; want no more as yet", got)
		}
	}
	if got := r.Look(busy); got != (Effort{2, 1000, 0}) {
		t.Errorf("%+v; want more again", got)
	}
}

func TestARunThatIsLateBeginsWithoutRests(t *testing.T) {
	most := Effort{Buckets: 4, Rows: 2000}
	if e := New(most, false).Effort(); e != (Effort{1, 250, 3}) {
		t.Errorf("%+v", e)
	}
	if e := New(most, true).Effort(); e != (Effort{1, 250, 0}) {
		t.Errorf("late: %+v", e)
	}
}

// Where nothing was committed since the last look, nothing is known.
func TestCommitsOfLongAgoSayNothing(t *testing.T) {
	r := New(Effort{Buckets: 4, Rows: 2000}, true)
	r.Look(Seen{Remains: 1000, Rate: 100, Left: time.Second})
	before := r.Effort()
	r.committed(10, time.Millisecond)
	r.committed(30, 9*time.Millisecond)
	ends := Seen{Remains: 1000, Rate: 1000, Left: time.Second}
	if got := r.Look(ends); got == before {
		t.Fatal("it did not go down")
	}
	r.at = position{step: len(rests) + 2}
	if got := r.Look(ends); got != before {
		t.Errorf("%+v; want %+v", got, before)
	}
}
