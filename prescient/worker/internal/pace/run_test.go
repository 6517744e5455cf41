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
	r := begun()
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
	for range quietLooks {
		if got := r.Look(busy); got != (Effort{2, 500, 0}) {
			t.Fatalf("%+v; want no more as yet", got)
		}
	}
	if got := r.Look(busy); got != (Effort{2, 1000, 0}) {
		t.Errorf("%+v; want more again", got)
	}
}

// A run that comes back to an effort goes by what its commits take now.
func TestWhatAnEffortTookBeforeIsForgotten(t *testing.T) {
	busy := Seen{Remains: 1000, Rate: 900, Left: time.Second}
	r := begun()
	r.Look(busy)
	r.committed(10, time.Millisecond)
	r.committed(30, 20*time.Millisecond)
	slow := r.Effort()
	if got := r.Look(busy); got == slow {
		t.Fatal("it did not go down")
	}
	for range quietLooks + 1 {
		r.Look(busy)
	}
	if r.Effort() != slow {
		t.Fatalf("%+v; want %+v again", r.Effort(), slow)
	}
	r.committed(2, time.Millisecond)
	if got := r.Look(Seen{Remains: 1000, Rate: 1000, Left: time.Second}); got != slow {
		t.Errorf("%+v, though its commits are quick now; want %+v", got, slow)
	}
}

// Where nothing was committed since the last look, nothing is known.
func TestCommitsOfLongAgoSayNothing(t *testing.T) {
	r := begun()
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

// begun is the pace of a run that rests no more.
func begun() *Run {
	r := New(Effort{Buckets: 4, Rows: 2000})
	r.at.step = len(rests)
	return r
}
