package slotrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"

	"prescient/scripts/bench/internal/rig"
)

// Workload is what a worker's job_exec does.
type Workload struct {
	DSN     string
	Form    string        // one, batch, tx or txbatch, with orders- before it where it works with the orders
	Moves   int           // of ten rows, how many go to a later slot
	Execs   int           // job_execs among which the rows are divided; 0: all have one
	Buckets int           // at a time; 0: by default
	Alone   bool          // the server is there for this alone: larger batches, and purge is put off
	Purged  bool          // purge is not put off all the same
	Batch   int           // rows in flight in a bucket; 0: by default
	Slot    time.Time     // to be run when it comes; zero: the one that is now
	Needed  time.Duration // it takes no more of the server than ends the slot within this; 0: all, at full pace
	Late    time.Duration // how long after its slot it begins, to sweep that and to run those that come; 0: it runs the slot
}

// aboutToCome is how long before its slot a worker is ready.
const aboutToCome = 500 * time.Millisecond

// moves says for a row whether it goes to a later slot. Keys are numbers.
func (l Workload) moves(job prescient.FutureJob) bool {
	return int(job.EntityKey[len(job.EntityKey)-1]-'0') < l.Moves
}

// Also divides the rows of a stage among the job_execs.
func (l Workload) Also() []string {
	if l.Execs == 0 {
		return nil
	}
	return []string{fmt.Sprintf("UPDATE future_job SET job_exec = CONCAT(job_exec, entity_key %% %d) WHERE next_check_at < UTC_DATE() + INTERVAL 2 DAY", l.Execs)}
}

// Registry holds the job_execs.
func (l Workload) Registry(db *sqlx.DB) *prescient.Registry {
	r := prescient.NewRegistry()
	answer := func(job prescient.FutureJob) *time.Time {
		if l.moves(job) {
			return prescient.At(job.NextCheckAt.Add(rig.Day))
		}
		return nil
	}
	var err error
	switch l.Form {
	case "one":
		one := func(_ context.Context, job prescient.FutureJob) (*time.Time, error) { return answer(job), nil }
		err = r.Register(rig.DueExec, one, prescient.Guards{})
		for i := range l.Execs {
			err = errors.Join(err, r.Register(fmt.Sprint(rig.DueExec, i), one, prescient.Guards{}))
		}
	case "batch":
		err = r.RegisterBatch(rig.DueExec, func(_ context.Context, batch *prescient.Batch) error {
			for i, job := range batch.Jobs() {
				if l.moves(job) {
					batch.Next(i, job.NextCheckAt.Add(rig.Day))
				} else {
					batch.Settle(i)
				}
			}
			return nil
		}, prescient.Guards{})
	case "orders-check":
		err = checkOf(db).Register(r, prescient.Guards{})
	case "orders-checkbatch":
		err = checkOf(db).RegisterBatch(r, prescient.Guards{})
	case "orders-one":
		err = r.Register(rig.DueExec, oneOrder(db), prescient.Guards{})
	case "orders-batch":
		err = r.RegisterBatch(rig.DueExec, manyOrders(db), prescient.Guards{})
	case "orders-tx":
		err = r.RegisterTx(rig.DueExec, alertOrder, prescient.Guards{})
	case "orders-txfails":
		err = r.RegisterTx(rig.DueExec, alertMostOrders, prescient.Guards{})
	case "orders-txbatch":
		err = r.RegisterTxBatch(rig.DueExec, alertOrders, prescient.Guards{})
	case "txbatch":
		err = r.RegisterTxBatch(rig.DueExec, func(_ context.Context, _ *sqlx.Tx, batch *prescient.Batch) error {
			for i := range batch.Jobs() {
				batch.Settle(i)
			}
			return nil
		}, prescient.Guards{})
	case "tx":
		err = r.RegisterTx(rig.DueExec, func(_ context.Context, _ *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			return answer(job), nil
		}, prescient.Guards{})
	}
	if err != nil {
		panic(err)
	}
	return r
}

// Run runs the slot.
func (l Workload) Run(ctx context.Context) (books.Figures, error) {
	db, err := connect.Open(l.DSN, 0)
	if err != nil {
		return books.Figures{}, err
	}
	defer db.Close()
	options := worker.Options{Registry: l.Registry(db), Load: worker.Load{Buckets: l.Buckets, Batch: l.Batch, Pace: worker.PaceFull}}
	if l.Needed > 0 {
		options.Load.Pace, options.Load.FinishWithin = worker.PaceNeeded, l.Needed
	}
	if l.Alone {
		options.Load.Batch, options.Load.PutOffPurge = 8000, 10*time.Second
	}
	if l.Purged {
		options.Load.PutOffPurge = 0
	}
	w, err := worker.New(ctx, db, options)
	if err != nil {
		return books.Figures{}, err
	}
	if l.Late > 0 {
		return books.Figures{}, l.sweep(ctx, db, w)
	}
	// Run waits for a slot that is about to come.
	if err := rig.Pause(ctx, time.Until(l.Slot.Add(-aboutToCome))); err != nil {
		return books.Figures{}, err
	}
	return w.Run(ctx)
}

// sweep works until nothing is left of the slot, and of those that have come since.
func (l Workload) sweep(ctx context.Context, db *sqlx.DB, w *worker.Worker) error {
	if err := rig.Pause(ctx, time.Until(l.Slot.Add(l.Late))); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	worked := make(chan error, 1)
	go func() { worked <- w.Work(ctx) }()
	for left := true; left; {
		if err := rig.Pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM future_job WHERE next_check_at <= UTC_TIMESTAMP())").Scan(&left); err != nil {
			return err
		}
	}
	cancel()
	return <-worked
}

// Run runs the slot in this process, or in several.
func Run(ctx context.Context, st *rig.Stage, l Workload, processes int) error {
	l.DSN = st.DSN(st.Name)
	var figures []books.Figures
	if processes == 1 {
		f, err := l.Run(ctx)
		if err != nil {
			return err
		}
		figures = append(figures, f)
	} else {
		results, err := InChildren(ctx, l, processes)
		if err != nil {
			return err
		}
		for _, result := range results {
			figures = append(figures, result.Figures)
		}
	}
	rows := 0
	for _, f := range figures {
		rows += f.Rows()
	}
	if rows != st.Due {
		return fmt.Errorf("%d rows; want %d: %+v", rows, st.Due, figures)
	}
	return nil
}

// Of is a slot run in this process.
func Of(name, form string) rig.Contestant {
	return rig.Contestant{Name: name, Ends: rig.All, Do: func(ctx context.Context, st *rig.Stage) error { return Run(ctx, st, Workload{Form: form}, 1) }}
}

// MostOf is Of where one row in so many is put off.
func MostOf(name, form string, of int) rig.Contestant {
	c := Of(name, form)
	c.Ends = func(due int) int { return due - due/of }
	return c
}
