package longrun

import "testing"

func TestPlacesAreGivenBackOnce(t *testing.T) {
	p := newPlaces(1, map[string]int{"heavy": 2})
	in := func(pool string, terms Terms) *Run { return &Run{row: known{pool: pool}, terms: terms} }
	wants := func(when, pool string, left, ending int) {
		t.Helper()
		if p.left(pool) != left || p.ending[pool] != ending {
			t.Errorf("%s: %d places are left, and %d ends wait; want %d, %d", when, p.left(pool), p.ending[pool], left, ending)
		}
	}
	first, second, third := in("", Terms{}), in("", Terms{}), in("", Terms{})
	p.take(first)
	wants("the first runs", "", 0, 0)
	if !p.end(first) || p.end(first) {
		t.Error("it gives back no place, or two")
	}
	wants("it has returned", "", 1, 1)
	p.take(second)
	if p.end(second) {
		t.Error("the second gives its place back, though an end waits")
	}
	wants("the second has returned as well", "", 0, 1)
	if p.over(first) {
		t.Error("the first gives its place back again")
	}
	wants("the first is over", "", 0, 0)
	if !p.over(second) || p.over(second) {
		t.Error("the second gives back no place, or two")
	}
	wants("both are over", "", 1, 0)
	p.take(third)
	p.leave(third) // another call has its run
	if p.end(third) || p.over(third) {
		t.Error("what has lost its place gives one back")
	}
	wants("the third is over", "", 1, 0)

	for _, overlap := range []Overlap{Forbid, Queue, Allow} {
		run := in("heavy", Terms{Schedule: "a", Overlap: overlap})
		p.take(run)
		if early := p.end(run); early != (overlap == Allow) {
			t.Errorf("%s: it gives its place back before its end is committed: %v", overlap, early)
		}
		p.over(run)
		wants(string(overlap), "heavy", 2, 0)
	}
}
