package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/ledger"
	"prescient/prescient/worker/internal/pace"
	"prescient/slots"
)

func TestMoreBucketsAtATimeTheFurtherAwayTheServerIs(t *testing.T) {
	for trip, want := range map[time.Duration]int{
		0: 4, 100 * time.Microsecond: 4, 999 * time.Microsecond: 4, time.Millisecond: 5, 2 * time.Millisecond: 6,
		3 * time.Millisecond: 7, 4 * time.Millisecond: 8, 5 * time.Millisecond: 8, 80 * time.Millisecond: 8, time.Minute: 8,
	} {
		if got := bucketsAt(trip); got != want {
			t.Errorf("%s away: %d; want %d", trip, got, want)
		}
	}
}

// distance has every PING take as long as a round trip to a server that is far away.
func distance(trip time.Duration) func(string) error {
	return func(statement string) error {
		if statement == "PING" {
			time.Sleep(trip)
		}
		return nil
	}
}

func TestALargeSlotOfAServerFarAwayHasMoreBucketsAtATime(t *testing.T) {
	t.Parallel()
	const far, rows = DefaultFarBuckets, 400
	eachFlavourAt(t, 15*time.Minute, func(t *testing.T, r *testRig) {
		r.ManyDue(rig.At("13:15"), "check", 0, rows)
		var h rig.Hooks
		away := distance(10 * time.Millisecond)
		var claims atomic.Int32
		all := make(chan struct{})
		h.OnStatement(func(statement string) error {
			if strings.Contains(statement, "token           = token + ?") {
				if claims.Add(1) == far {
					close(all)
				}
				select {
				case <-all:
				case <-time.After(time.Minute):
					return errors.New("no more buckets are claimed at a time")
				}
			}
			return away(statement)
		})
		w := r.hookedWorker(rig.At("13:15"), &h, rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{}),
			Options{Load: Load{Batch: 10}})
		figures, err := w.Run(t.Context())
		if err != nil || figures.Done != rows || figures.Buckets < far {
			t.Errorf("%+v, %v", figures, err)
		}
		r.Balanced()
	})
}

func TestBucketsAtATimeStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		away := distance(10 * time.Millisecond)
		for _, c := range []struct {
			name    string
			trip    func(string) error
			limit   int // of connections
			given   int
			buckets int
			pings   int
		}{
			{"a server far away", away, 0, 0, 8, pings},
			{"their number is given", away, 0, 3, 3, 0},
			{"connections are limited", away, 20, 0, 4, 0},
			{"it cannot be measured", func(statement string) error {
				if statement == "PING" {
					return errors.New("refused")
				}
				return nil
			}, 0, 0, 4, 1},
		} {
			var h rig.Hooks
			w := r.hookedWorker(rig.At("13:15"), &h, prescient.NewRegistry(), Options{Load: Load{Buckets: c.given}})
			w.send.DB.SetMaxOpenConns(c.limit)
			h.OnStatement(c.trip)
			run := &slotRun{w: w, runOptions: runOptions{parallel: w.buckets()}}
			run.widen(t.Context())
			if run.parallel != c.buckets || h.Count("PING") != c.pings {
				t.Errorf("%s: %d buckets at a time after %d pings; want %d after %d", c.name, run.parallel, h.Count("PING"), c.buckets, c.pings)
			}
		}
	})
}

// The shortest of some round trips counts: one that waited for a processor, or for a connection to be made, says nothing.
func TestARoundTripIsTheShortestOfSome(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var h rig.Hooks
		w := r.hookedWorker(rig.At("13:15"), &h, prescient.NewRegistry(), Options{})
		var first sync.Once
		h.OnStatement(func(string) error {
			first.Do(func() { time.Sleep(time.Second) })
			return nil
		})
		if trip := w.roundTrip(t.Context()); trip <= 0 || trip >= time.Second {
			t.Errorf("a round trip takes %s", trip)
		}
	})
}

// fence is in the first statement of a commit.
const fence = "batch_seq = batch_seq + 1"

// atATime counts the buckets that a worker with hooks has at a time. Where held is given, commits wait until there are so many.
type atATime struct {
	mu        sync.Mutex
	now, most int
	held      int
	reached   chan struct{}
}

func watch(h *rig.Hooks, held int) *atATime {
	a := &atATime{held: held, reached: make(chan struct{})}
	h.OnStatement(func(statement string) error {
		a.mu.Lock()
		switch {
		case strings.Contains(statement, "token           = token + ?"):
			a.now++
			if a.most = max(a.most, a.now); a.now == a.held {
				close(a.reached)
				a.held = 0
			}
		case strings.Contains(statement, "SET finished_at = IF(?"):
			a.now--
		}
		a.mu.Unlock()
		if held == 0 || !strings.Contains(statement, fence) {
			return nil
		}
		select {
		case <-a.reached:
			return nil
		case <-time.After(time.Minute):
			return errors.New("no more buckets are worked on")
		}
	})
	return a
}

// What there is time for takes one bucket after the other, by small commits; at full pace it takes all that it may.
func TestASlotRunTakesNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	const rows, batch, least = 3000, 1000, 250
	eachServer(t, func(t *testing.T, r *testRig) {
		run := func(pace Pace, most int) (commits int) {
			t.Helper()
			r.ManyDue(rig.At("13:15"), "check", 0, rows)
			var h rig.Hooks
			a := watch(&h, 0)
			w := r.hookedWorker(rig.At("13:15"), &h, rig.Registry("check", neverAgain, prescient.Guards{}), Options{Load: Load{Batch: batch, Pace: pace, FinishWithin: time.Hour}})
			figures, err := w.Run(t.Context())
			if err != nil || figures.Done != rows || a.most > most {
				t.Errorf("pace %q: %+v, %v; %d buckets at a time; want %d at most", pace, figures.Counts, err, a.most, most)
			}
			r.Balanced()
			r.Clear()
			r.Exec("DELETE FROM p_slot_run")
			return h.Count(fence)
		}
		// Of buckets at a time it is one, and what lingers on a slow machine.
		byDefault, needed := run("", 3), run(PaceNeeded, 3)
		full := run(PaceFull, 2*DefaultBuckets)
		for range 2 { // on a busy machine what should go together comes in parts
			if full >= byDefault {
				full = run(PaceFull, 2*DefaultBuckets)
			}
		}
		if byDefault < rows/least || needed < rows/least || full >= byDefault {
			t.Errorf("%d commits at the default pace, %d at needed, %d at full; want %d at least, as many, and fewer", byDefault, needed, full, rows/least)
		}
	})
}

// A run whose time is over takes all that it may: its commits are held up here until it has that many buckets.
func TestASlotRunThatIsLateTakesMore(t *testing.T) {
	t.Parallel()
	const rows = 400
	eachServer(t, func(t *testing.T, r *testRig) {
		r.ManyDue(rig.At("13:15"), "check", 0, rows)
		var h rig.Hooks
		a := watch(&h, DefaultBuckets)
		w := r.hookedWorker(rig.At("13:15"), &h, rig.Registry("check", neverAgain, prescient.Guards{}),
			Options{Load: Load{Batch: 10, Buckets: DefaultBuckets, FinishWithin: time.Millisecond}})
		figures, err := w.Run(t.Context())
		if err != nil || figures.Done != rows || a.most < DefaultBuckets {
			t.Errorf("%+v, %v; %d buckets at a time; want %d at least", figures, err, a.most, DefaultBuckets)
		}
		r.Balanced()
	})
}

// Two that see at once that fewer buckets are to be worked on do not both go.
func TestARunWhosePaceFallsGoesOn(t *testing.T) {
	t.Parallel()
	r := &slotRun{pace: pace.New(pace.Effort{Buckets: 4, Rows: 2000}), pass: pass{busy: 2, todo: make([]ledger.Row, 2)}}
	_, first := r.next()
	_, second := r.next()
	if first || !second || r.busy != 1 {
		t.Errorf("the first goes on: %t, the second: %t, and %d are left", first, second, r.busy)
	}
}

func TestWhatIsLateHasTimeForAllOfIt(t *testing.T) {
	t.Parallel()
	finished, open := ledger.Row{Finished: true}, ledger.Row{}
	for _, c := range []struct {
		name                string
		pace                Pace
		background          bool
		ledger              []ledger.Row
		adapts, shared, own bool
	}{
		{"a slot whose time has come", PaceNeeded, false, []ledger.Row{open, open}, true, false, false},
		{"others have ended some of it", PaceNeeded, false, []ledger.Row{finished, open}, true, false, false},
		{"rows that came to it late", PaceNeeded, false, []ledger.Row{finished, finished}, true, false, true},
		{"a sweep", PaceNeeded, true, []ledger.Row{open, open}, true, true, false},
		{"a sweep of rows that came late", PaceNeeded, true, []ledger.Row{finished, finished}, true, true, false},
		{"full pace", PaceFull, false, []ledger.Row{open, open}, false, false, false},
		{"a sweep at full pace", PaceFull, true, []ledger.Row{open, open}, false, false, false},
	} {
		w := &Worker{options: Options{Load: Load{Pace: c.pace, Batch: 2000}}}
		w.tables.Grid, _ = slots.NewGrid(time.Minute)
		w.backlog = w.newBacklog()
		r := &slotRun{w: w, runOptions: runOptions{parallel: 4, background: c.background}}
		got := r.newPace(c.ledger)
		if shared, own := r.backlog == w.backlog, r.backlog != nil && r.backlog != w.backlog; got.Adapts() != c.adapts || shared != c.shared || own != c.own {
			t.Errorf("%s: its pace changes: %t, it is one of the sweeps: %t, or of late rows: %t; want %t, %t, %t", c.name, got.Adapts(), shared, own,
				c.adapts, c.shared, c.own)
		}
	}
}

// While a slot of now is run a sweep takes the least.
func TestASweepYieldsToTheSlotThatIsNow(t *testing.T) {
	t.Parallel()
	w := &Worker{options: Options{Load: Load{Batch: 2000}, Sweep: Sweep{FinishWithin: time.Second}}, bounds: bounds{runs: make(places, 1)}}
	w.backlog = w.newBacklog()
	run := w.backlog.Run(pace.Effort{Buckets: 4, Rows: 2000})
	least, at := run.Effort(), time.Now()
	w.backlog.Starts(at, 1000)
	w.backlog.Look(at.Add(2*time.Second), pace.Ledger{Buckets: 1})
	if run.Effort() == least {
		t.Fatal("it is late, and takes the least")
	}
	place, _ := w.bounds.runs.try()
	if run.Effort() != least {
		t.Errorf("beside a slot of now it takes %+v; want %+v", run.Effort(), least)
	}
	place.give()
	if run.Effort() == least {
		t.Error("it takes the least though no slot of now is run any more")
	}
}

func TestASlotIsToEndBeforeTheNext(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Minute, func(t *testing.T, r *testRig) {
		for given, want := range map[time.Duration]time.Duration{0: 6 * time.Second, 10 * time.Second: 10 * time.Second, time.Hour: time.Minute} {
			w := r.worker(time.Time{}, prescient.NewRegistry(), Options{Load: Load{Pace: PaceNeeded, FinishWithin: given}})
			if got := w.finishWithin(); got != want {
				t.Errorf("given %s: within %s; want %s", given, got, want)
			}
		}
	})
}

func TestAPaceThatThereIsNotIsRefused(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for want, o := range map[string]Options{
			`worker pace "quick": needed or full are allowed`:               {Load: Load{Pace: "quick"}},
			"worker finish within (ms) -1: 0 to 86400000 are allowed":       {Load: Load{FinishWithin: -time.Millisecond}},
			"worker sweep finish within (ms) -1: 1 to 86400000 are allowed": {Sweep: Sweep{FinishWithin: -time.Millisecond}},
			"worker finish within (ms) 86400001: 0 to 86400000 are allowed": {Load: Load{FinishWithin: 24*time.Hour + time.Millisecond}},
		} {
			o.Prefix = "p_"
			if _, err := New(t.Context(), r.As("worker", time.Time{}), o); !errors.Is(err, prescient.ErrInvalid) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("got %v; want %s", err, want)
			}
		}
	})
}
