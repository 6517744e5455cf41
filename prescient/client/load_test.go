package client

import (
	"strconv"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// However many wait for a slot, so many are counted at most; then it is said that the number is about that.
func TestALoadIsCountedUpToABound(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var jobs []prescient.NewJob
		for i := range 302 {
			at := rig.At("13:00")
			if i < 2 {
				at = rig.At("12:00")
			}
			jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "user", Key: strconv.Itoa(i)}, JobExec: "x", DueAt: at})
		}
		_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs)
		r.Must(err)
		exact, err := r.client.Load(t.Context(), r.Pool(time.Time{}), rig.At("11:00"), rig.At("14:00"), 10)
		r.Must(err)
		about, err := r.client.load(t.Context(), r.Pool(time.Time{}), rig.At("11:00"), rig.At("14:00"), 10, 100)
		r.Must(err)
		if len(exact) != 2 || exact[0].Jobs != 2 || exact[1].Jobs != 300 || exact[0].About || exact[1].About {
			t.Errorf("%+v", exact)
		}
		if len(about) != 2 || about[0] != exact[0] || !about[1].About || about[1].Jobs < 200 || about[1].Jobs > 400 {
			t.Errorf("%+v", about)
		}
	})
}

// An edit of a schedule ends what waited: of its runs the last that was called, failed or missed is told.
func TestAnEndThatIsSupersededTellsLess(t *testing.T) {
	end := func(outcome prescient.Outcome, at string) Ended { return Ended{Outcome: outcome, EndedAt: rig.At(at)} }
	for _, test := range []struct {
		one, other Ended
		more       bool
	}{
		{end(prescient.Failed, "10:00"), end(prescient.Superseded, "11:00"), true},
		{end(prescient.Superseded, "11:00"), end(prescient.Failed, "10:00"), false},
		{end(prescient.Done, "11:00"), end(prescient.Failed, "10:00"), true},
		{end(prescient.Done, "10:00"), end(prescient.Failed, "11:00"), false},
		{end(prescient.Superseded, "11:00"), end(prescient.Superseded, "10:00"), true},
	} {
		if got := test.one.tellsMoreThan(test.other); got != test.more {
			t.Errorf("%s at %s before %s at %s: %v", test.one.Outcome, test.one.EndedAt, test.other.Outcome, test.other.EndedAt, got)
		}
	}
}

func TestHowFarTheFirstKeysReachSaysHowManyThereAre(t *testing.T) {
	for _, test := range []struct {
		n    int
		last prescient.Key
		want int
	}{{100, prescient.Key{0x80}, 200}, {100, prescient.Key{0x01}, 25_600}, {100, prescient.Key{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 100}, {100, prescient.Key{}, 1_000_000_000_000}} {
		if got := inAll(test.n, test.last[:]); got != test.want {
			t.Errorf("%d to %s: %d; want %d", test.n, test.last, got, test.want)
		}
	}
}
