package bucket

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/ledger"
	text "prescient/sql"
)

// desk is a bucket with answers to commit, on a server that follows a script: for what a real one does not do when it
// is asked to.
type desk struct {
	t        *testing.T
	mock     sqlmock.Sqlmock
	send     *store.Sender
	bucket   *Bucket
	hasBooks bool              // those so far were read
	batch    []*check.Answered // the first ended, the second moves
}

func newDesk(t *testing.T) *desk {
	db, mock, err := sqlmock.New()
	rig.Fatal(t, err)
	t.Cleanup(func() { _ = db.Close() })
	statements, err := text.Load("p_")
	rig.Fatal(t, err)
	d := &desk{t: t, mock: mock}
	d.send = &store.Sender{DB: sqlx.NewDb(db, "mysql"), Timeout: store.StatementTime(prescient.DefaultLease), Patience: 2 * time.Minute}
	tables := &store.Tables{Stmt: statements, Grid: rig.Quarter, Version: 1}
	of := &Shared{Writer: &commit.Writer{Send: d.send, Tables: tables, Ledger: &ledger.Ledger{Send: d.send, Tables: tables, Worker: "me", TTL: time.Minute}, Worker: "me"},
		Guards:  func(string) prescient.Guards { return prescient.DefaultGuards() },
		Observe: func([]*check.Answered, commit.Result) {}, Batch: 10, Parallel: 4}
	l := &ledger.Lease{Slot: rig.At("13:15"), Bucket: 3, Token: 7, Worker: "me", BatchSeq: 20}
	l.Begin(time.Now(), time.Minute)
	o := Options{Lease: l, Clock: store.ClockAt(rig.At("13:15:01")), Hidden: new(atomic.Bool)}
	d.bucket = &Bucket{Shared: of, Options: o, sizes: sizes{batch: 10}, session: &commit.Session{Writer: of.Writer, Lease: l},
		reads: reads{streams: []*stream{{outstanding: 2}}, outstanding: map[string]int{"unshipped": 2}}}
	for i, next := range []*time.Time{nil, prescient.At(rig.At("14:01"))} {
		job := rig.PendingAt(rig.At("13:15"))
		job.EntityKey, job.Revision = fmt.Sprint(i), uint64(100+i)
		a := check.Answer{Next: next, Started: rig.At("13:15:01"), Ended: rig.At("13:15:02"), Ran: time.Second}
		d.batch = append(d.batch, &check.Answered{Row: check.Row{FutureJob: job, JobKey: job.Key()}, Answer: a,
			Verdict: prescient.Decide(rig.Quarter, prescient.DefaultGuards(), job, a.Given(), a.Ended)})
	}
	return d
}

// commit commits the batch and holds the server to its script.
func (d *desk) commit() error {
	err := d.bucket.commit(d.t.Context(), d.batch, commit.ByRanges)
	if left := d.mock.ExpectationsWereMet(); left != nil {
		d.t.Error(left)
	}
	return err
}

// committed checks that a commit was done once, with its books.
func (d *desk) committed(err error, want books.Figures) {
	d.t.Helper()
	want.Lateness = d.bucket.Figures.Lateness
	if err != nil || d.bucket.Lease.BatchSeq != 21 || !reflect.DeepEqual(d.bucket.Figures, want) {
		d.t.Errorf("%v, batch_seq %d, %+v; want 21, %+v", err, d.bucket.Lease.BatchSeq, d.bucket.Figures, want)
	}
}

// The statements of a commit, in their order.
var commitSteps = []string{"BEGIN", "fence", "lock", "moves", "history", "delete", "books so far", "books", "COMMIT"}

// script expects the statements of a commit up to the one named, which fails; all of them where none is.
func (d *desk) script(failing string, err error) {
	for _, step := range commitSteps {
		var fails error
		if step == failing {
			fails = err
		}
		if step == "books so far" && d.hasBooks {
			continue // they are read once
		}
		d.step(step, fails)
		if fails != nil {
			if step != "BEGIN" && step != "COMMIT" {
				d.mock.ExpectRollback()
			}
			return
		}
	}
}

func (d *desk) step(step string, err error) {
	one := sqlmock.NewResult(0, 1)
	exec := func(pattern string) {
		d.mock.ExpectExec(pattern).WillReturnResult(one).WillReturnError(err)
	}
	switch step {
	case "BEGIN":
		d.mock.ExpectBegin().WillReturnError(err)
	case "fence":
		exec("UPDATE p_slot_run SET batch_seq = batch_seq")
	case "moves":
		exec("UPDATE JSON_TABLE")
	case "lock":
		d.mock.ExpectQuery("SELECT job_key, revision FROM p_future_job .* FOR UPDATE").WillReturnRows(found(d.batch...)).WillReturnError(err)
	case "history":
		exec("INSERT INTO p_job_history")
	case "delete":
		exec("DELETE .* p_future_job")
	case "books so far":
		d.mock.ExpectQuery("SELECT job_exec, .* FROM p_exec_run").WillReturnRows(sqlmock.NewRows(nil)).WillReturnError(err)
		d.hasBooks = err == nil
	case "books":
		exec("INSERT INTO p_exec_run")
	case "COMMIT":
		d.mock.ExpectCommit().WillReturnError(err)
	}
}

// found are rows as a look at their keys and revisions returns them.
func found(rows ...*check.Answered) *sqlmock.Rows {
	list := sqlmock.NewRows([]string{"job_key", "revision"})
	for _, a := range rows {
		list.AddRow(a.JobKey[:], a.Revision)
	}
	return list
}

// asked expects the question what became of a COMMIT, and answers it.
func (d *desk) asked(worker string, token, seq uint64) {
	d.mock.ExpectQuery("SELECT worker, token, batch_seq FROM p_slot_run .* FOR UPDATE").WithArgs(rig.At("13:15"), 3).
		WillReturnRows(sqlmock.NewRows([]string{"worker", "token", "batch_seq"}).AddRow(worker, token, seq))
}

func driverValues(args []any) []driver.Value {
	values := make([]driver.Value, len(args))
	for i, arg := range args {
		values[i] = arg
	}
	return values
}

func serverError(number uint16) error { return &mysql.MySQLError{Number: number, Message: "x"} }

var bothDone = books.Counts{Done: 1, Moved: 1}

func TestAnErrorThatPassesAtAnyStatementHasTheCommitDoneAgain(t *testing.T) {
	for _, step := range commitSteps {
		for _, err := range []error{serverError(1213), serverError(1047), mysql.ErrInvalidConn, context.DeadlineExceeded} {
			t.Run(fmt.Sprint(step, " ", err), func(t *testing.T) {
				d := newDesk(t)
				d.script(step, err)
				if step == "COMMIT" {
					d.asked("me", 7, 20)
				}
				d.script("", nil)
				d.committed(d.commit(), books.Figures{Counts: bothDone, Retries: 1})
			})
		}
	}
}

func TestAnErrorThatStaysAtAnyStatementEndsTheRun(t *testing.T) {
	for _, step := range commitSteps {
		t.Run(step, func(t *testing.T) {
			d := newDesk(t)
			d.script(step, serverError(1054))
			if step == "COMMIT" {
				d.asked("me", 7, 20)
			}
			err := d.commit()
			if !errno.Is(err, 1054) || !strings.Contains(err.Error(), "committing slot 2026-11-20T13:15:00Z") || d.bucket.Lease.BatchSeq != 20 {
				t.Errorf("%v, batch_seq %d", err, d.bucket.Lease.BatchSeq)
			}
		})
	}
}

// The answer to a COMMIT is lost: batch_seq, read under a lock, says whether it was done.
func TestACommitWithoutAnAnswerIsResolvedByTheLedger(t *testing.T) {
	for _, lost := range []error{mysql.ErrInvalidConn, serverError(1213), serverError(1180), sql.ErrTxDone, context.DeadlineExceeded, errors.New("unknown")} {
		t.Run("done, "+lost.Error(), func(t *testing.T) {
			d := newDesk(t)
			d.script("COMMIT", lost)
			d.asked("me", 7, 21)
			d.committed(d.commit(), books.Figures{Counts: bothDone})
		})
	}
	t.Run("not done", func(t *testing.T) {
		d := newDesk(t)
		d.script("COMMIT", mysql.ErrInvalidConn)
		d.asked("me", 7, 20)
		d.script("COMMIT", mysql.ErrInvalidConn)
		d.asked("me", 7, 20)
		d.script("COMMIT", sql.ErrTxDone)
		d.asked("me", 7, 20)
		d.script("", nil)
		d.committed(d.commit(), books.Figures{Counts: bothDone, Retries: 3})
	})
	for name, taken := range map[string]struct {
		worker string
		token  uint64
	}{"another worker": {"you", 8}, "another token": {"me", 8}, "another name": {"you", 7}} {
		t.Run("taken over by "+name, func(t *testing.T) {
			d := newDesk(t)
			d.script("COMMIT", mysql.ErrInvalidConn)
			d.asked(taken.worker, taken.token, 21)
			if err := d.commit(); !errors.Is(err, ledger.ErrLost) || d.bucket.Lease.Alive(time.Now()) || d.bucket.Figures.Ended() != 0 {
				t.Errorf("%v, %+v; want the lease lost and nothing counted", err, d.bucket.Figures)
			}
		})
	}
	t.Run("the question is asked again", func(t *testing.T) {
		d := newDesk(t)
		d.script("COMMIT", mysql.ErrInvalidConn)
		d.mock.ExpectQuery("SELECT worker").WillReturnError(serverError(1205))
		d.mock.ExpectQuery("SELECT worker").WillReturnError(serverError(1290))
		d.asked("me", 7, 21)
		d.committed(d.commit(), books.Figures{Counts: bothDone})
	})
	t.Run("and has no answer", func(t *testing.T) {
		d := newDesk(t)
		d.script("COMMIT", serverError(1105))
		d.mock.ExpectQuery("SELECT worker").WillReturnError(serverError(1146))
		if err := d.commit(); !errno.Is(err, 1105) || !strings.Contains(err.Error(), "finding out whether a commit was done") {
			t.Errorf("%v; want both errors", err)
		}
	})
}

func TestAFenceThatHitsNoRowIsALostLeaseAndNothingMoreIsSent(t *testing.T) {
	d := newDesk(t)
	d.mock.ExpectBegin()
	counts := []any{1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	var args []any
	args = append(append(args, int64(60_000_000)), counts...)
	d.mock.ExpectExec("UPDATE p_slot_run").WithArgs(driverValues(append(args, rig.At("13:15"), 3, "me", uint64(7), uint64(20)))...).
		WillReturnResult(sqlmock.NewResult(0, 0))
	d.mock.ExpectRollback()
	if err := d.commit(); !errors.Is(err, ledger.ErrLost) || d.bucket.Lease.Alive(time.Now()) {
		t.Errorf("%v; want the lease lost", err)
	}
	if err := d.bucket.commit(t.Context(), d.batch, commit.ByRanges); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("%v; want no further try under a lost lease", err)
	}
}

func TestNothingIsSentUnderALeaseThatIsOver(t *testing.T) {
	d := newDesk(t)
	d.bucket.Lease.Renewed(time.Now().Add(-time.Minute))
	if err := d.commit(); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("%v; want the lease lost", err)
	}
	d.bucket.Lease.Renewed(time.Now())
	if err := d.commit(); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("%v; want it lost for good", err)
	}
}

// Rows changed between the look and the write: it is all undone, and the second look sees what they are now.
func TestAWriteThatHitsTooFewIsRolledBackAndTheLookMadeAgain(t *testing.T) {
	for step, pattern := range map[string]string{"moves": "UPDATE JSON_TABLE", "delete": "DELETE .* p_future_job"} {
		t.Run(step, func(t *testing.T) {
			d := newDesk(t)
			for _, before := range commitSteps[:slices.Index(commitSteps, step)] {
				d.step(before, nil)
			}
			d.mock.ExpectExec(pattern).WillReturnResult(sqlmock.NewResult(0, 0))
			d.mock.ExpectRollback()
			changed := &check.Answered{Row: d.batch[0].Row}
			changed.Revision++
			d.step("BEGIN", nil)
			d.step("fence", nil)
			d.mock.ExpectQuery("SELECT job_key, revision .*FOR UPDATE SKIP LOCKED").WillReturnRows(found(changed, d.batch[1]))
			d.mock.ExpectQuery("SELECT job_key, revision").WillReturnRows(found(changed, d.batch[1]))
			d.step("moves", nil)
			d.booked()
			d.corrected(0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
			d.mock.ExpectCommit()
			d.committed(d.commit(), books.Figures{Counts: books.Counts{Moved: 1, Dropped: 1}, Retries: 1})
		})
	}
}

// booked expects that the books by job_exec are read, once, and written.
func (d *desk) booked() {
	if !d.hasBooks {
		d.step("books so far", nil)
	}
	d.step("books", nil)
}

// corrected expects that the books are corrected by as much.
func (d *desk) corrected(counts ...any) {
	args := driverValues(append(counts, rig.At("13:15"), 3))
	d.mock.ExpectExec("UPDATE p_slot_run SET moved = moved -").WithArgs(args...).WillReturnResult(sqlmock.NewResult(0, 1))
}

func TestRowsThatAreGoneAreDropped(t *testing.T) {
	d := newDesk(t)
	d.step("BEGIN", nil)
	d.step("fence", nil)
	d.mock.ExpectQuery("SELECT job_key, revision .*FOR UPDATE SKIP LOCKED").WillReturnRows(found())
	d.mock.ExpectQuery("SELECT job_key, revision").WillReturnRows(found())
	d.booked()
	d.corrected(1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)
	d.mock.ExpectCommit()
	d.committed(d.commit(), books.Figures{Counts: books.Counts{Dropped: 2}})
}

func TestAnErrorOfARollbackHidesNothing(t *testing.T) {
	broken := func(d *desk, err error) {
		d.step("BEGIN", nil)
		d.mock.ExpectExec("UPDATE p_slot_run").WillReturnError(err)
		d.mock.ExpectRollback().WillReturnError(errors.New("rollback broke"))
	}
	d := newDesk(t)
	broken(d, serverError(1213))
	d.script("", nil)
	d.committed(d.commit(), books.Figures{Counts: bothDone, Retries: 1})

	d = newDesk(t)
	broken(d, serverError(1054))
	if err := d.commit(); !errno.Is(err, 1054) || !strings.Contains(err.Error(), "rollback broke") {
		t.Errorf("%v; want both errors", err)
	}
}

// An open transaction of the app holds a row: the others are committed, and its answer is kept.
func TestALockedRowKeepsItsAnswerForLater(t *testing.T) {
	d := newDesk(t)
	d.script("lock", serverError(1205))
	d.step("BEGIN", nil)
	d.step("fence", nil)
	d.mock.ExpectQuery("FORCE INDEX .PRIMARY.*FOR UPDATE SKIP LOCKED").WillReturnRows(found(d.batch[1]))
	d.mock.ExpectQuery("FORCE INDEX .job_key.*FOR UPDATE SKIP LOCKED").WillReturnRows(found(d.batch[1]))
	d.mock.ExpectQuery("SELECT job_key, revision").WillReturnRows(found(d.batch...))
	d.step("moves", nil)
	d.booked()
	d.corrected(0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	d.mock.ExpectCommit()
	d.committed(d.commit(), books.Figures{Counts: books.Counts{Moved: 1}, Retries: 1})
	if b := d.bucket; len(b.contested) != 1 || b.contested[0].JobKey != d.batch[0].JobKey || b.finished() || b.streams[0].outstanding != 1 || !b.retryAt.After(time.Now()) {
		t.Errorf("held: %+v", b.contested)
	}
}

func TestAPassingErrorIsNotWaitedForBeyondThePatience(t *testing.T) {
	d := newDesk(t)
	d.send.Patience = 20 * time.Millisecond
	for range 20 {
		d.mock.ExpectBegin().WillReturnError(serverError(1047))
	}
	if err := d.bucket.commit(t.Context(), d.batch, commit.ByRanges); !errno.Is(err, 1047) {
		t.Errorf("%v; want the error that did not pass", err)
	}
}
