package prescient

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestASpreadIsStableAndEven(t *testing.T) {
	const n, window = 24000, 6 * time.Hour
	var perQuarter [24]int
	for i := range n {
		job := NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("00:00"), Spread: window}
		offset := job.spread().DueAt.Sub(at("00:00"))
		if offset < 0 || offset >= window || offset%time.Microsecond != 0 {
			t.Fatalf("order %d is put %s later", i, offset)
		}
		if again := job.spread().DueAt.Sub(at("00:00")); again != offset {
			t.Fatalf("order %d is put %s later, then %s", i, offset, again)
		}
		perQuarter[offset/(window/24)]++
	}
	for i, got := range perQuarter {
		if got < 850 || got > 1150 {
			t.Errorf("quarter of an hour %d has %d, want about 1000", i, got)
		}
	}
}

func TestTheChecksOfOneEntityAreSpreadToo(t *testing.T) {
	e := Entity{"order", "42"}
	if spreadOver(KeyOf(e, "a", ""), time.Hour) == spreadOver(KeyOf(e, "b", ""), time.Hour) {
		t.Error("two job_execs of an entity have the same place")
	}
	for _, test := range []struct {
		key    Key
		window time.Duration
		want   time.Duration
	}{
		{Key{}, time.Hour, 0},
		{Key{0: 0xff, 1: 0xff, 2: 0xff, 3: 0xff}, time.Hour, 0},
		{Key{4: 0x80}, time.Hour, 30 * time.Minute},
		{Key{4: 0x80, 12: 0xc0}, time.Hour, 15 * time.Minute},
		{Key{4: 0xff, 5: 0xff, 6: 0xff, 7: 0xff, 8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff}, time.Hour, time.Hour - time.Microsecond},
		{Key{4: 0x80}, 0, 0},
	} {
		if got := spreadOver(test.key, test.window); got != test.want {
			t.Errorf("%s over %s: %s, want %s", test.key, test.window, got, test.want)
		}
	}
}

func TestASpreadInsertIsDueAtItsPlace(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		job := NewJob{Entity: Entity{"order", "42"}, JobExec: "check", DueAt: at("14:00"), Spread: 6 * time.Hour}
		want := at("14:00").Add(spreadOver(KeyOf(job.Entity, "check", ""), 6*time.Hour))
		if did := r.insert(at("13:00"), job); !did.DueAt.Equal(want) || !did.Slot.Equal(r.client.grid.Ceil(want)) {
			t.Errorf("placed at %s in %s, want %s", did.DueAt, did.Slot, want)
		}
		// The same again is due at the same time, so it is not later.
		job.OnPending = Later
		if did := r.insert(at("13:00"), job); did.Did != DidKeep {
			t.Errorf("the second insert %s it", did.Did)
		}
		job.Tag, job.OnPending = "many", Keep
		jobs := []NewJob{job, {Entity: job.Entity, JobExec: "check", Tag: "plain", DueAt: at("14:00")}}
		did, err := r.client.InsertMany(t.Context(), r.appAt(at("13:00")), jobs)
		r.must(err)
		want = at("14:00").Add(spreadOver(KeyOf(job.Entity, "check", "many"), 6*time.Hour))
		if !did[0].DueAt.Equal(want) || !did[1].DueAt.Equal(at("14:00")) || jobs[0].Spread == 0 {
			t.Errorf("placed at %s and %s, want %s and 14:00; the list is %+v", did[0].DueAt, did[1].DueAt, want, jobs)
		}
		job.Spread = -time.Second
		if _, err := r.client.Insert(t.Context(), r.app, job); !errors.Is(err, ErrInvalid) || !contains(err, "spread -1s") {
			t.Errorf("negative spread: %v", err)
		}
	})
}
