package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/scripts/chaos/wire"
)

// The time of a call is for its function. What is written after that has a time of its own, and a server that does not
// answer then is no error of the job.
func TestAServerThatHoldsTheCommitIsNoErrorOfATxFunction(t *testing.T) {
	t.Parallel()
	const hold = `"Since": "batch_seq = batch_seq + 1", "Match": "COMMIT", "Nth": 1, "Do": "delay", "Wait": `
	cases := map[string]struct {
		rules string
		calls int32
	}{
		"it is done after the time of the call": {`[{` + hold + `1500000000}]`, 1},
		"it does not arrive":                    {`[{` + hold + `4000000000}]`, 2},
		"it was done, and its answer is lost":   {`[{` + hold + `4000000000, "After": true}]`, 1},
		"the fence does not arrive":             {`[{"Match": "batch_seq = batch_seq + 1", "Nth": 1, "Do": "delay", "Wait": 4000000000}]`, 2},
		"its begin is late":                     {`[{"Since": "ORDER BY job_key LIMIT", "Match": "START TRANSACTION", "Nth": 1, "Do": "delay", "Wait": 1500000000}]`, 1},
		"its savepoint is late":                 {`[{"Match": "SAVEPOINT prescient_row", "Nth": 1, "Do": "delay", "Wait": 1500000000}]`, 1},
		"the end of its savepoint is refused":   {`[{"Match": "RELEASE SAVEPOINT", "Nth": 1, "Do": "refuse", "Code": 1047}]`, 2},
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				if name == "it does not arrive" {
					r.Needs(t, rig.Sessions) // it does where nobody can KILL
				}
				defer r.begin()
				r.InsertAll("check", "42")
				var calls atomic.Int32
				execs := prescient.NewRegistry()
				r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
					calls.Add(1)
					return nil, effect(ctx, tx, job)
				}, prescient.Guards{Timeout: time.Second}))
				plan, err := wire.NewPlan(c.rules, 1)
				r.Must(err)
				var told atomic.Int32
				plan.Tell = func(string, string, time.Duration) { told.Add(1) }
				w, err := New(t.Context(), r.overNetwork("worker", rig.At("13:15:01"), plan, 9*time.Second),
					Options{Prefix: "p_", Registry: execs, Times: Times{Lease: 6 * time.Second}})
				r.Must(err)
				figures, err := w.Run(t.Context())
				r.Must(err)
				ends := r.History()
				if len(ends) != 1 || ends[0].Outcome != prescient.Done || ends[0].ErrorCount != 0 || len(r.Pending()) != 0 || figures.LeasesLost != 0 {
					t.Errorf("%+v, ended %+v, pending %+v", figures, ends, r.Pending())
				}
				if calls.Load() != c.calls || of()["42"] != 1 || told.Load() == 0 {
					t.Errorf("%d calls, %d effects, %d faults; want %d, 1, 1", calls.Load(), of()["42"], told.Load(), c.calls)
				}
				r.Balanced()
			})
		}
	})
}

// overNetwork is a pool of Open whose connections go through a plan, with the server's clock at a time.
func (r *testRig) overNetwork(role string, now time.Time, plan *wire.Plan, lease time.Duration) *sqlx.DB {
	r.T.Helper()
	network := r.D.Name
	mysql.RegisterDialContext(network, plan.Dial)
	dsn := strings.Replace(servertest.WithParams(r.Account(role), rig.FixedClock(now)), "@tcp(", "@"+network+"(", 1)
	db, err := connect.Open(dsn, lease)
	r.Must(err)
	r.T.Cleanup(func() {
		_ = db.Close()
		mysql.DeregisterDialContext(network)
	})
	return db
}

// The transactions of a TxFunc commit beside the commits of answers, under one lease: each has to know the number that
// the one before it took.
func TestCommitsOfBothKindsDoNotTakeTheLeaseFromEachOther(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 80
		var jobs []prescient.NewJob
		for i := range rows {
			for _, name := range []string{"plain", "tx"} {
				jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: name, DueAt: rig.At("13:00")})
			}
		}
		_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("12:50")), jobs)
		r.Must(err)
		execs := rig.Registry("plain", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		r.Must(execs.RegisterTx("tx", func(context.Context, *sqlx.Tx, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{}))
		figures := r.runAt(rig.At("13:00:01"), execs, Options{Load: Load{Batch: 8}, Times: Times{Lease: 2 * time.Second}})
		if figures.LeasesLost != 0 || figures.Done != 2*rows {
			t.Errorf("%d leases were lost, %d rows are done; want none, and %d", figures.LeasesLost, figures.Done, 2*rows)
		}
		r.Balanced()
	})
}

// A lock that others have is no error of the row, in either form of a function, and its transaction says that it came to nothing.
func TestALockThatAFunctionCannotHaveIsNoErrorOfItsRow(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		r.Exec("CREATE TABLE stock (id INT PRIMARY KEY)")
		r.Exec("INSERT INTO stock VALUES (1)")
		r.Also("worker", "SELECT, UPDATE", "stock")
		var free func() // what others have locked
		work := func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) error {
			if err := effect(ctx, tx, job); err != nil {
				return err
			}
			var id int
			err := tx.QueryRowContext(ctx, "SELECT id FROM stock WHERE id = 1 FOR UPDATE").Scan(&id)
			free()
			if err != nil {
				err = fmt.Errorf("looking after stock: %w", err)
			}
			return err
		}
		var calls []bool // what each call of a batch was told about its transaction
		forms := map[string]func(execs *prescient.Registry) error{
			"a row": func(execs *prescient.Registry) error {
				return execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
					err := work(ctx, tx, job)
					calls = append(calls, err == nil)
					return nil, err
				}, prescient.Guards{})
			},
			"a batch": func(execs *prescient.Registry) error {
				return execs.RegisterTxBatch("check", func(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
					batch.AfterTx(func(committed bool) { calls = append(calls, committed) })
					batch.Settle(0)
					return work(ctx, tx, batch.Jobs()[0])
				}, prescient.Guards{})
			},
		}
		for name, register := range forms {
			t.Run(name, func(t *testing.T) {
				defer r.begin()
				r.InsertAll("check", "42")
				other, err := r.Root.BeginTx(t.Context(), nil)
				r.Must(err)
				_, err = other.Exec("SELECT id FROM stock WHERE id = 1 FOR UPDATE")
				r.Must(err)
				free = func() { _ = other.Rollback() }
				defer free()
				calls = nil
				execs := prescient.NewRegistry()
				r.Must(register(execs))
				r.runAt(rig.At("13:15"), execs, Options{})
				if want := []bool{false, true}; !slices.Equal(calls, want) {
					t.Errorf("calls that came to something: %v; want %v", calls, want)
				}
				ends := r.History()
				if len(ends) != 1 || ends[0].Outcome != prescient.Done || ends[0].ErrorCount != 0 || of()["42"] != 1 {
					t.Errorf("%+v, effects %v", ends, of())
				}
				r.Balanced()
			})
		}
	})
}

// A long run that could not be started since the server had no time for it has not failed.
func TestWhatPassesByItselfIsNoErrorOfAnEndlessCheck(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		r.InsertAll("check", "42")
		var calls []int // error_count of each
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTxBatch("check", func(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
			calls = append(calls, batch.Jobs()[0].ErrorCount)
			batch.Settle(0)
			if len(calls) > 2 {
				return nil
			}
			_, err := tx.ExecContext(ctx, "SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = 1317, MESSAGE_TEXT = 'interrupted'")
			return fmt.Errorf("starting: %w", err)
		}, prescient.Guards{Endless: true}))
		r.runAt(rig.At("13:15"), execs, Options{})
		ends := r.History()
		if len(ends) != 1 || ends[0].Outcome != prescient.Done || ends[0].ErrorCount != 0 || !slices.Equal(calls, []int{0, 0, 0}) {
			t.Errorf("%+v, called with %v errors", ends, calls)
		}
		r.Balanced()
	})
}
