package prescient

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
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
func (a *away) outageAt(poor string, times int32, back func()) Func {
	var outages atomic.Int32
	return func(ctx context.Context, job FutureJob) (*time.Time, error) {
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
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		slot := r.insertDue(6)
		var h hooks
		var server away
		h.onStatement(server.fail)
		w := r.hookedWorker(time.Time{}, &h, registry("check", server.outageAt("3", 4, func() { server.Store(false) }), Guards{}), WorkerOptions{Lease: 2 * time.Second})
		w.options.Lease = 700 * time.Millisecond
		figures, err := w.runSlot(t.Context(), slot, manner{parallel: 1, stay: true})
		r.must(err)
		if figures.Done != 6 || figures.Crashed != 0 || figures.LeasesLost != 4 {
			t.Errorf("%+v; want 6 done, none of them crashed, after 4 leases lapsed", figures)
		}
		if n := r.count("SELECT takeovers FROM p_slot_run WHERE slot = ?", slot); n != 0 {
			t.Errorf("the ledger counts %d takeovers", n)
		}
		r.balanced()
	})
}

// Another worker takes the bucket over before the one that held it is back.
func TestAWorkerThatOutlivesAnOutageClearsTheRowItRan(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		slot := r.insertDue(6)
		r.exec("INSERT INTO p_slot_run (slot, bucket, buckets, takeovers) VALUES (?, 0, 1, 2)", slot) // by deaths of before
		var mine, theirs hooks
		var server away
		taken := make(chan struct{})
		mine.onStatement(server.fail)
		w := r.hookedWorker(time.Time{}, &mine, registry("check", server.outageAt("3", 1, func() { <-taken; server.Store(false) }), Guards{}),
			WorkerOptions{Name: "poor", Lease: 2 * time.Second})
		w.options.Lease = time.Second
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := w.runSlot(t.Context(), slot, manner{parallel: 1, stay: true}); err != nil {
				t.Error(err)
			}
		})
		r.eventually("the server is away", server.Load)
		var claims atomic.Int32
		theirs.onAnswer(func(statement string) error {
			if strings.Contains(statement, "SET takeovers") && claims.Add(1) == 1 {
				close(taken)
			}
			return nil
		})
		var c calls
		heir := r.hookedWorker(time.Time{}, &theirs, registry("check", c.count, Guards{}), WorkerOptions{Name: "heir", Lease: 2 * time.Second})
		_, err := heir.runSlot(t.Context(), slot, manner{parallel: 1, stay: true})
		r.must(err)
		both.Wait()
		if n := r.count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'"); n != 6 || c.of["3"] != 1 {
			t.Errorf("%d rows are done, and the one in question was called %d times more", n, c.of["3"])
		}
		if n := r.count("SELECT takeovers FROM p_slot_run WHERE slot = ?", slot); n != 2 {
			t.Errorf("the ledger counts %d takeovers; want the 2 of before", n)
		}
		r.balanced()
	})
}
