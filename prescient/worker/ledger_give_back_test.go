package worker

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/ledger"
)

// away is a server that a worker does not reach for a while.
type away struct{ atomic.Bool }

func (a *away) fail(string) error {
	if a.Load() {
		return mysql.ErrInvalidConn
	}
	return nil
}

// outageAt is a job_exec during whose call of a row the server is away, until the lease has lapsed and back is called; so
// many times.
func (a *away) outageAt(poor string, times int32, back func()) prescient.Func {
	var outages atomic.Int32
	return func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		if job.EntityKey == poor && outages.Add(1) <= times {
			a.Store(true)
			<-ctx.Done()
			back()
		}
		return nil, nil
	}
}

// A row that was in flight in one outage after the other has killed nobody.
func TestARowThatWasInFlightInOutagesIsNoKiller(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(6)
		var h rig.Hooks
		var server away
		h.OnStatement(server.fail)
		w := r.hookedWorker(time.Time{}, &h, rig.Registry("check", server.outageAt("3", 4, func() { server.Store(false) }), prescient.Guards{}), Options{Times: Times{Lease: 2 * time.Second}})
		w.options.Times.Lease = 700 * time.Millisecond
		figures, err := w.runSlot(t.Context(), slot, runOptions{parallel: 1, stay: true})
		r.Must(err)
		if figures.Done != 6 || figures.Crashed != 0 || figures.LeasesLost != 4 {
			t.Errorf("%+v; want 6 done, none of them crashed, after 4 leases lapsed", figures)
		}
		if n := r.Count("SELECT takeovers FROM p_slot_run WHERE slot = ?", slot); n != 0 {
			t.Errorf("the ledger counts %d takeovers", n)
		}
		r.Balanced()
	})
}

// Another worker takes the bucket over before the one that held it is back.
func TestAWorkerThatOutlivesAnOutageClearsTheRowItRan(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(6)
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, takeovers) VALUES (?, 0, 1, 2)", slot) // by deaths of before
		var mine, theirs rig.Hooks
		var server away
		taken := make(chan struct{})
		mine.OnStatement(server.fail)
		w := r.hookedWorker(time.Time{}, &mine, rig.Registry("check", server.outageAt("3", 1, func() { <-taken; server.Store(false) }), prescient.Guards{}),
			Options{Name: "poor", Times: Times{Lease: 2 * time.Second}})
		w.options.Times.Lease = time.Second
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := w.runSlot(t.Context(), slot, runOptions{parallel: 1, stay: true}); err != nil {
				t.Error(err)
			}
		})
		r.Eventually("the server is away", server.Load)
		var claims atomic.Int32
		theirs.OnAnswer(func(statement string) error {
			if strings.Contains(statement, "SET takeovers") && claims.Add(1) == 1 {
				close(taken)
			}
			return nil
		})
		var c rig.Calls
		heir := r.hookedWorker(time.Time{}, &theirs, rig.Registry("check", c.Count, prescient.Guards{}), Options{Name: "heir", Times: Times{Lease: 2 * time.Second}})
		_, err := heir.runSlot(t.Context(), slot, runOptions{parallel: 1, stay: true})
		r.Must(err)
		both.Wait()
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'"); n != 6 || c.Of["3"] != 1 {
			t.Errorf("%d rows are done, and the one in question was called %d times more", n, c.Of["3"])
		}
		if n := r.Count("SELECT takeovers FROM p_slot_run WHERE slot = ?", slot); n != 2 {
			t.Errorf("the ledger counts %d takeovers; want the 2 of before", n)
		}
		r.Balanced()
	})
}

// A bucket that was released, though nobody knows, was claimed by another without a takeover: there is none to take off.
func TestALeaseThatWasReleasedTakesNoTakeoverOff(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(6)
		claim := func(name string) (*Worker, *ledger.Lease) {
			w := r.worker(time.Time{}, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{Name: name})
			return w, r.claimed(w, slot)
		}
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, takeovers) VALUES (?, 0, 1, 2)", slot)
		before, l := claim("before")
		r.Must(before.ledger.Release(t.Context(), l, false)) // and the answer is lost
		claim("heir")
		before.ledger.GiveBack(t.Context(), l)
		if n := r.Count("SELECT takeovers FROM p_slot_run"); n != 2 {
			t.Errorf("the ledger counts %d takeovers; want the 2 of workers that died", n)
		}
	})
}

// The answer to a GiveBack is lost, so that it is sent again: after a takeover, and after the bucket was given back and claimed.
func TestALeaseIsGivenBackOnceThoughTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(6)
		for _, test := range []struct {
			name         string
			takenBefore  bool // another takes the bucket over before it is given back, or claims it as soon as it is
			before, want int  // takeovers in the ledger, by deaths of before
		}{
			{"another has taken the bucket over", true, 2, 2},
			{"another claims the bucket at once", false, 2, 2},
			{"another has taken the bucket over for the first time", true, 0, 0},
		} {
			r.Exec("DELETE FROM p_slot_run")
			r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, takeovers) VALUES (?, 0, 1, ?)", slot, test.before)
			var h rig.Hooks
			poor := r.hookedWorker(time.Time{}, &h, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{Name: "poor"})
			heir := r.worker(time.Time{}, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{Name: "heir"})
			l := r.claimed(poor, slot)
			var of *ledger.Lease
			if test.takenBefore {
				r.Exec("UPDATE p_slot_run SET allocated_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND")
				of = r.claimed(heir, slot)
			}
			lost := 0
			h.OnAnswer(func(statement string) error {
				if !strings.Contains(statement, "SET takeovers        = IF(") || lost == 2 {
					return nil
				}
				if lost++; of == nil {
					of = r.claimed(heir, slot)
				}
				return mysql.ErrInvalidConn
			})
			poor.ledger.GiveBack(t.Context(), l)
			if n := r.Count("SELECT takeovers FROM p_slot_run WHERE slot = ?", slot); lost != 2 || n != test.want {
				t.Errorf("%s: the ledger counts %d takeovers after %d answers were lost; want %d", test.name, n, lost, test.want)
			}
			if err := heir.ledger.Renew(t.Context(), of); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	})
}
