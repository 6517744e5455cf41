package ledger

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// desk is a ledger on a server that follows a script: for what a real one does not do when it is asked to.
type desk struct {
	t      *testing.T
	mock   sqlmock.Sqlmock
	ledger *Ledger
	lease  *Lease // of bucket 3
}

func newDesk(t *testing.T) *desk {
	db, mock, err := sqlmock.New()
	rig.Fatal(t, err)
	t.Cleanup(func() { _ = db.Close() })
	statements, err := text.Load("p_")
	rig.Fatal(t, err)
	send := &store.Sender{DB: sqlx.NewDb(db, "mysql"), Timeout: store.StatementTime(time.Minute), Patience: 2 * time.Minute}
	l := &Lease{Slot: rig.At("13:15"), Bucket: 3, Token: 7, Worker: "me", BatchSeq: 20}
	l.Begin(time.Now(), time.Minute)
	return &desk{t: t, mock: mock,
		ledger: &Ledger{Send: send, Tables: &store.Tables{Stmt: statements, Grid: rig.Quarter, Version: 1}, Worker: "me", TTL: time.Minute, Batch: 10, Parallel: 4},
		lease:  l}
}

func serverError(number uint16) error { return &mysql.MySQLError{Number: number, Message: "x"} }

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
				return d.mock.ExpectExec("UPDATE p_slot_run").WithArgs(claimed, "me", int64(60_000_000), false, "work", rig.At("13:15"), 3,
					uint64(7), uint64(20), uint64(1))
			}
			exec().WillReturnError(mysql.ErrInvalidConn)
			exec().WillReturnResult(sqlmock.NewResult(0, 0))
			d.mock.ExpectQuery("SELECT worker, token, batch_seq FROM p_slot_run .* FOR UPDATE").WithArgs(rig.At("13:15"), 3).WillReturnRows(rows)
			before := time.Now()
			l, err := d.ledger.Claim(t.Context(), rig.At("13:15"), Row{Bucket: 3, Token: 7, BatchSeq: 20}, Work)
			if err != nil || (l != nil) != c.ours {
				t.Fatalf("%+v, %v; want it ours: %t", l, err, c.ours)
			}
			if c.ours && (l.Token != 7+claimed.step || l.Until().Before(before.Add(time.Minute)) || l.Until().After(time.Now().Add(time.Minute))) {
				t.Errorf("%+v; want token %d, and a minute from the first try", l, 7+claimed.step)
			}
			if left := d.mock.ExpectationsWereMet(); left != nil {
				t.Error(left)
			}
		})
	}
}

// Two claims of one name, as a slot run and a sweep make: one has the bucket, also where its answer is lost.
func TestOfTwoClaimsUnderOneNameOneHasTheBucket(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: rig.At("13:15")})
		var h rig.Hooks
		w := r.ledger("one", r.HookedPool(rig.At("13:15:01"), &h), 2000, 4)
		list, err := w.Open(t.Context(), rig.At("13:15"), Work)
		r.Must(err)
		other := r.ledger("one", r.As("worker", rig.At("13:15:01")), 2000, 4)
		var theirs *Lease
		lost := rig.FirstTime("SET takeovers", mysql.ErrInvalidConn)
		h.OnStatement(func(statement string) error {
			if theirs == nil && strings.Contains(statement, "SET takeovers") {
				theirs, err = other.Claim(t.Context(), rig.At("13:15"), list[0], Work)
				r.Must(err)
			}
			return lost(statement)
		})
		ours, err := w.Claim(t.Context(), rig.At("13:15"), list[0], Work)
		r.Must(err)
		if ours != nil || theirs == nil {
			t.Fatalf("ours: %+v, theirs: %+v; want it to be theirs alone", ours, theirs)
		}
		r.Must(other.Renew(t.Context(), theirs))
	})
}

func TestClaimsAreRepeatedOrRefused(t *testing.T) {
	claim := func(d *desk) (*Lease, error) {
		l, err := d.ledger.Claim(context.Background(), rig.At("13:15"), Row{Bucket: 3, Token: 7, BatchSeq: 20, Allocated: true, Takeovers: 1}, Work)
		if left := d.mock.ExpectationsWereMet(); left != nil {
			d.t.Error(left)
		}
		return l, err
	}
	expect := func(d *desk) *sqlmock.ExpectedExec {
		return d.mock.ExpectExec("UPDATE p_slot_run").
			WithArgs(sqlmock.AnyArg(), "me", int64(60_000_000), false, "work", rig.At("13:15"), 3, uint64(7), uint64(20), uint64(1))
	}
	d := newDesk(t)
	expect(d).WillReturnError(serverError(1213))
	expect(d).WillReturnResult(sqlmock.NewResult(0, 1))
	if l, err := claim(d); err != nil || l == nil || l.Token <= 7 || l.BatchSeq != 20 || l.Takeovers != 2 || !l.Alive(time.Now()) {
		t.Errorf("%+v, %v; want the lease under a token above 7", l, err)
	}

	d = newDesk(t)
	expect(d).WillReturnResult(sqlmock.NewResult(0, 0))
	if l, err := claim(d); err != nil || l != nil {
		t.Errorf("%+v, %v; want nothing: somebody was faster", l, err)
	}

	d = newDesk(t)
	expect(d).WillReturnError(serverError(1146))
	if l, err := claim(d); l != nil || !errno.Is(err, 1146) || !strings.Contains(err.Error(), "claiming bucket 3 of slot 2026-11-20T13:15:00Z") {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestARenewalThatHitsNoRowIsALostLease(t *testing.T) {
	d := newDesk(t)
	d.mock.ExpectExec("UPDATE p_slot_run SET allocated_until").WillReturnError(mysql.ErrInvalidConn)
	d.mock.ExpectExec("UPDATE p_slot_run SET allocated_until").WillReturnResult(sqlmock.NewResult(0, 1))
	l := d.lease
	l.Renewed(time.Now().Add(time.Second - time.Minute))
	if err := d.ledger.Renew(t.Context(), l); err != nil || time.Until(l.Until()) < 59*time.Second-time.Second {
		t.Errorf("%v, until %s", err, l.Until())
	}
	d.mock.ExpectExec("UPDATE p_slot_run SET allocated_until").WillReturnResult(sqlmock.NewResult(0, 0))
	if err := d.ledger.Renew(t.Context(), l); !errors.Is(err, ErrLost) || l.Alive(time.Now()) {
		t.Errorf("%v; want the lease lost", err)
	}
}

// Whoever has lost a lease does not try again.
func TestALostLeaseIsNoErrorThatPasses(t *testing.T) {
	if errno.Passing(ErrLost) {
		t.Error("it passes")
	}
}
