package worker

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// A worker died while the clock was a year ahead, and its lease ends then. Nobody waits for that.
func TestALeaseThatEndsFurtherAheadThanAnyIsNotHonoured(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		leave := func(until time.Duration) {
			r.Exec("DELETE FROM p_slot_run")
			r.Exec(fmt.Sprintf("INSERT INTO p_slot_run (slot, bucket, buckets, token, worker, allocated_until) VALUES ('%s', 0, 1, 7, 'gone', '%s')",
				rig.At("13:15").Format(literal.SecondLayout), rig.At("13:30:11").Add(until).Format(literal.MicroLayout)))
		}
		leases := func() string {
			found, err := doctor.Examine(t.Context(), r.As("owner", rig.At("13:30:11")), doctor.Options{Prefix: "p_"})
			r.Must(err)
			for _, f := range found {
				if f.Code == "leases.far" {
					return string(f.Severity) + ": " + f.Text
				}
			}
			return "none"
		}
		r.insertOrders(10)
		leave(prescient.MaxLease)
		if swept, err := r.worker(rig.At("13:30:11"), execs, Options{}).Sweep(t.Context()); err != nil || len(swept) > 0 {
			t.Errorf("the longest lease there is was not honoured: %+v, %v", swept, err)
		}
		if said := leases(); !strings.HasPrefix(said, "ok: ") {
			t.Error(said)
		}
		for _, until := range []time.Duration{prescient.MaxLease + time.Millisecond, 365 * 24 * time.Hour} {
			leave(until)
			if said := leases(); !strings.HasPrefix(said, "warn: 1 lease ends more than 1h0m0s ahead") || !strings.Contains(said, "worker gone on bucket 0") {
				t.Error(said)
			}
			var live []store.Leased
			err := r.As("owner", rig.At("13:30:11")).SelectContext(t.Context(), &live, r.Tables().Stmt.Get("operate/leases"), 100)
			if err != nil || len(live) > 0 {
				t.Errorf("reslot waits for %+v, %v", live, err)
			}
			swept, err := r.worker(rig.At("13:30:11"), execs, Options{}).Sweep(t.Context())
			if err != nil || len(swept) != 1 || swept[0].Takeovers != 1 || len(r.Pending()) > 0 {
				t.Errorf("until %s from now: swept %+v, %v; %d are pending", until, swept, err, len(r.Pending()))
			}
			r.Exec("DELETE FROM p_job_history")
			r.insertOrders(10)
		}
	})
}

// The clock of the server that another asks is a little behind the one by which the longest lease was taken.
func TestTheLongestLeaseLivesByAClockThatIsABitBehind(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		execs := rig.Registry("check", rig.NothingToDo, prescient.Guards{})
		slot := rig.At("13:15")
		r.insertOrders(10)
		owner := r.worker(rig.At("13:30:11"), execs, Options{Times: Times{Lease: prescient.MaxLease}})
		l := r.claimed(owner, slot)
		swept, err := r.worker(rig.At("13:30:10.5"), execs, Options{Name: "thief"}).Sweep(t.Context())
		if err != nil || len(swept) > 0 {
			t.Errorf("the lease was not honoured: %+v, %v", swept, err)
		}
		r.Must(owner.ledger.Renew(t.Context(), l))
	})
}

// Where a statement asks whether a lease lives, it knows of the longest one.
func TestNoStatementHonoursALeaseWithoutAnEnd(t *testing.T) {
	asks := regexp.MustCompile(`allocated_until (<|>|>=|BETWEEN) `)
	longest := fmt.Sprintf("UTC_TIMESTAMP(6) + INTERVAL %d HOUR", prescient.MaxLease/time.Hour)
	stmt, err := text.Load("p_")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, statement := range stmt {
		if !asks.MatchString(statement) || name == "operate/lapsed" { // which looks for the others
			continue
		}
		n++
		if !strings.Contains(statement, longest) {
			t.Errorf("%s takes a lease for one that lives, however far ahead it ends:\n%s", name, statement)
		}
	}
	if n < 8 {
		t.Errorf("only %d statements ask", n)
	}
}
