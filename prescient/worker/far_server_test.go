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
	eachServer(t, func(t *testing.T, r *testRig) {
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
			Options{Batch: 10})
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
			w := r.hookedWorker(rig.At("13:15"), &h, prescient.NewRegistry(), Options{Buckets: c.given})
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
