package worker

import (
	"context"
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/ledger"
)

// stepped takes any step of a claim, the same each time, and tells of it.
type stepped struct {
	step uint64
	tell func(step uint64)
}

func (s *stepped) Match(v driver.Value) bool {
	if s.step == 0 {
		s.step = uint64(v.(int64))
		s.tell(s.step)
	}
	return uint64(v.(int64)) == s.step
}

// The claim is repeated after a broken connection and finds the bucket taken: by itself, or by another?
func TestAClaimWithoutAnAnswerIsResolvedByItsToken(t *testing.T) {
	for name, c := range map[string]struct {
		worker string
		off    uint64 // of the token that the ledger has, against that of the claim
		seq    uint64
		ours   bool
	}{
		"it was done":                         {worker: "me", seq: 20, ours: true},
		"another of the same name was faster": {worker: "me", off: 1, seq: 20},
		"another was faster":                  {worker: "you", off: 1, seq: 20},
		"another name, the same token":        {worker: "you", seq: 20},
		"somebody committed under it":         {worker: "me", seq: 21},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			rows := sqlmock.NewRows([]string{"worker", "token", "batch_seq"})
			claimed := &stepped{tell: func(step uint64) { rows.AddRow(c.worker, 7+step+c.off, c.seq) }}
			exec := func() *sqlmock.ExpectedExec {
				return d.mock.ExpectExec("UPDATE p_slot_run").WithArgs(claimed, "me", int64(60_000_000), rig.At("13:15"), 3,
					uint64(7), uint64(20), uint64(1))
			}
			exec().WillReturnError(mysql.ErrInvalidConn)
			exec().WillReturnResult(sqlmock.NewResult(0, 0))
			d.mock.ExpectQuery("SELECT worker, token, batch_seq FROM p_slot_run .* FOR UPDATE").WithArgs(rig.At("13:15"), 3).WillReturnRows(rows)
			before := time.Now()
			l, err := d.w.ledger.Claim(t.Context(), rig.At("13:15"), ledger.Row{Bucket: 3, Token: 7, BatchSeq: 20})
			if err != nil || (l != nil) != c.ours {
				t.Fatalf("%+v, %v; want it ours: %t", l, err, c.ours)
			}
			if c.ours && (l.Token != 7+claimed.step || l.Until.Before(before.Add(time.Minute)) || l.Until.After(time.Now().Add(time.Minute))) {
				t.Errorf("%+v; want token %d, and a minute from the first try", l, 7+claimed.step)
			}
			if left := d.mock.ExpectationsWereMet(); left != nil {
				t.Error(left)
			}
		})
	}
}

// A bucket whose claim was done without an answer is run at once: it does not idle until its lease ends, and nobody
// counts a takeover.
func TestABucketIsRunAtOnceWhoseClaimHadNoAnswer(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, key := range []string{"1", "2", "3"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "check", DueAt: rig.At("13:15")})
		}
		var h rig.Hooks
		h.OnAnswer(rig.FirstTime("SET takeovers", mysql.ErrInvalidConn))
		var c rig.Calls
		w := r.hookedWorker(rig.At("13:15:01"), &h, rig.Registry("check", c.Count, prescient.Guards{}), Options{})
		ctx, cancel := context.WithTimeout(t.Context(), prescient.DefaultLease/2)
		defer cancel()
		figures, err := w.Run(ctx)
		r.Must(err)
		if figures.Done != 3 || figures.Takeovers != 0 || h.Count("SET takeovers") != 2 {
			t.Errorf("%+v after %d claims; want three rows done under the claim that was repeated", figures, h.Count("SET takeovers"))
		}
		if n := r.Count("SELECT takeovers FROM p_slot_run"); n != 0 {
			t.Errorf("the ledger counts %d takeovers", n)
		}
		c.EachOnce(t, 3)
		r.Balanced()
	})
}

// Two claims of one name, as a slot run and a sweep make: one has the bucket, also where its answer is lost.
func TestOfTwoClaimsUnderOneNameOneHasTheBucket(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: rig.At("13:15")})
		var h rig.Hooks
		w := r.hookedWorker(rig.At("13:15:01"), &h, prescient.NewRegistry(), Options{})
		list, err := w.ledger.Open(t.Context(), rig.At("13:15"))
		r.Must(err)
		other := r.worker(rig.At("13:15:01"), prescient.NewRegistry(), Options{Name: w.Name()})
		var theirs *ledger.Lease
		lost := rig.FirstTime("SET takeovers", mysql.ErrInvalidConn)
		h.OnStatement(func(statement string) error {
			if theirs == nil && strings.Contains(statement, "SET takeovers") {
				theirs, err = other.ledger.Claim(t.Context(), rig.At("13:15"), list[0])
				r.Must(err)
			}
			return lost(statement)
		})
		ours, err := w.ledger.Claim(t.Context(), rig.At("13:15"), list[0])
		r.Must(err)
		if ours != nil || theirs == nil {
			t.Fatalf("ours: %+v, theirs: %+v; want it to be theirs alone", ours, theirs)
		}
		r.Must(other.ledger.Renew(t.Context(), theirs))
	})
}
