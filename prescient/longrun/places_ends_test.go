package longrun

import "testing"

// A database that is slow, or away, slows the claims down: it does not have ends pile up.
func TestAsManyEndsAsThereArePlacesAreOnTheirWayBesideTheCalls(t *testing.T) {
	p := newPlaces(2, map[string]int{"gpu": 1})
	runs := make([]*Run, 3)
	for i := range runs {
		runs[i] = &Run{}
	}
	for _, run := range runs[:2] {
		p.take(run)
	}
	if !p.vacate(runs[0]) || !p.vacate(runs[1]) || p.left("") != 2 {
		t.Errorf("two ends keep places; %d are left", p.left(""))
	}
	p.take(runs[2])
	if p.vacate(runs[2]) || p.left("") != 1 {
		t.Errorf("a third end gives its place back before it is committed; %d are left", p.left(""))
	}
	p.end(runs[0])
	if !p.vacate(runs[2]) || p.left("") != 2 {
		t.Errorf("it keeps its place after another is committed; %d are left", p.left(""))
	}
	p.end(runs[0]) // once more
	p.end(runs[1])
	p.end(runs[2])
	if p.left("") != 2 || p.ending[""] != 0 {
		t.Errorf("%d places are left, and %d ends under way, of none", p.left(""), p.ending[""])
	}
	gpu := &Run{row: known{pool: "gpu"}}
	p.take(gpu)
	if p.left("gpu") != 0 || !p.vacate(gpu) || p.left("gpu") != 1 {
		t.Error("a pool has places of its own")
	}
}
