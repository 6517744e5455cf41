package prescient

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	text "prescient/sql"
)

// A worker died while the clock was a year ahead, and its lease ends then. Nobody waits for that.
func TestALeaseThatEndsFurtherAheadThanAnyIsNotHonoured(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		execs := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		leave := func(until time.Duration) {
			r.exec("DELETE FROM p_slot_run")
			r.exec(fmt.Sprintf("INSERT INTO p_slot_run (slot, bucket, buckets, token, worker, allocated_until) VALUES ('%s', 0, 1, 7, 'gone', '%s')",
				at("13:15").Format(secondLayout), at("13:30:11").Add(until).Format(microLayout)))
		}
		leases := func() string {
			found, err := Doctor(t.Context(), r.as("owner", at("13:30:11")), DoctorOptions{Prefix: "p_"})
			r.must(err)
			for _, f := range found {
				if f.Code == "leases.far" {
					return string(f.Severity) + ": " + f.Text
				}
			}
			return "none"
		}
		r.insertOrders(10)
		leave(MaxLease)
		if swept, err := r.worker(at("13:30:11"), execs, WorkerOptions{}).Sweep(t.Context()); err != nil || len(swept) > 0 {
			t.Errorf("the longest lease there is was not honoured: %+v, %v", swept, err)
		}
		if said := leases(); !strings.HasPrefix(said, "ok: ") {
			t.Error(said)
		}
		for _, until := range []time.Duration{MaxLease + time.Millisecond, 365 * 24 * time.Hour} {
			leave(until)
			if said := leases(); !strings.HasPrefix(said, "warn: 1 leases end more than 1h0m0s ahead") || !strings.Contains(said, "worker gone on bucket 0") {
				t.Error(said)
			}
			live, err := (&reslot{tables: r.client.tables, db: r.as("owner", at("13:30:11"))}).leases(t.Context())
			if err != nil || len(live) > 0 {
				t.Errorf("reslot waits for %+v, %v", live, err)
			}
			swept, err := r.worker(at("13:30:11"), execs, WorkerOptions{}).Sweep(t.Context())
			if err != nil || len(swept) != 1 || swept[0].Takeovers != 1 || len(r.pending()) > 0 {
				t.Errorf("until %s from now: swept %+v, %v; %d are pending", until, swept, err, len(r.pending()))
			}
			r.exec("DELETE FROM p_job_history")
			r.insertOrders(10)
		}
	})
}

// Where a statement asks whether a lease lives, it knows of the longest one.
func TestNoStatementHonoursALeaseWithoutAnEnd(t *testing.T) {
	asks := regexp.MustCompile(`allocated_until (<|>|>=|BETWEEN) `)
	longest := fmt.Sprintf("UTC_TIMESTAMP(6) + INTERVAL %d HOUR", MaxLease/time.Hour)
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
