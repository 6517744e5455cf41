package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

var endsSection = section{
	name:     "ends",
	noBinlog: true,
	about:    "slot runs through the public API with job_execs that do nothing, beside the floor: ends, moves, mixes; one-job, batch and Tx handlers; 1, 2 and 4 processes",
	run: func(ctx context.Context, b *bench, s *server) error {
		list := floors()
		for _, c := range []struct {
			name string
			job  workload
			of   int // processes
		}{
			{"prescient, ends", workload{Form: "one"}, 1},
			{"prescient, ends, batch handler", workload{Form: "batch"}, 1},
			{"prescient, ends, alone on its server", workload{Form: "one", Alone: true}, 1},
			{"prescient, ends, batch handler, alone on its server", workload{Form: "batch", Alone: true}, 1},
			{"prescient, ends, Tx handler", workload{Form: "tx"}, 1},
			{"prescient, ends, Tx batch handler", workload{Form: "txbatch"}, 1},
			{"prescient, ends, 2 processes", workload{Form: "one"}, 2},
			{"prescient, ends, 4 processes", workload{Form: "one"}, 4},
			{"prescient, ends, batch handler, 2 processes", workload{Form: "batch"}, 2},
			{"prescient, ends, batch handler, 4 processes", workload{Form: "batch"}, 4},
			{"prescient, 90/10 ends and moves", workload{Form: "one", Moves: 1}, 1},
			{"prescient, 50/50 ends and moves", workload{Form: "one", Moves: 5}, 1},
			{"prescient, moves", workload{Form: "one", Moves: 10}, 1},
			{"prescient, moves, batch handler", workload{Form: "batch", Moves: 10}, 1},
		} {
			list = append(list, contestant{name: c.name, ends: func(due int) int { return due - due*c.job.Moves/10 },
				do: func(ctx context.Context, st *stage) error { return st.runSlot(ctx, c.job, c.of) }})
		}
		return b.onStage(ctx, s, "ends", list)
	},
}

// workload is what a worker's job_exec does.
type workload struct {
	DSN     string
	Form    string // one, batch, tx or txbatch, with orders- before it where it works with the orders
	Moves   int    // of ten rows, how many go to a later slot
	Buckets int    // at a time; 0: by default
	Alone   bool   // the server is there for this alone: larger batches, and purge is put off
}

// moves says for a row whether it goes to a later slot. Keys are numbers.
func (l workload) moves(job prescient.FutureJob) bool {
	return int(job.EntityKey[len(job.EntityKey)-1]-'0') < l.Moves
}

// registry holds the job_exec.
func (l workload) registry(db *sqlx.DB) *prescient.Registry {
	r := prescient.NewRegistry()
	answer := func(job prescient.FutureJob) *time.Time {
		if l.moves(job) {
			return prescient.At(job.NextCheckAt.Add(day))
		}
		return nil
	}
	var err error
	switch l.Form {
	case "one":
		err = r.Register(dueExec, func(_ context.Context, job prescient.FutureJob) (*time.Time, error) { return answer(job), nil }, prescient.Guards{})
	case "batch":
		err = r.RegisterBatch(dueExec, func(_ context.Context, batch *prescient.Batch) error {
			for i, job := range batch.Jobs() {
				if l.moves(job) {
					batch.Next(i, job.NextCheckAt.Add(day))
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
		err = r.Register(dueExec, oneOrder(db), prescient.Guards{})
	case "orders-batch":
		err = r.RegisterBatch(dueExec, manyOrders(db), prescient.Guards{})
	case "orders-tx":
		err = r.RegisterTx(dueExec, alertOrder, prescient.Guards{})
	case "orders-txbatch":
		err = r.RegisterTxBatch(dueExec, alertOrders, prescient.Guards{})
	case "txbatch":
		err = r.RegisterTxBatch(dueExec, func(_ context.Context, _ *sqlx.Tx, batch *prescient.Batch) error {
			for i := range batch.Jobs() {
				batch.Settle(i)
			}
			return nil
		}, prescient.Guards{})
	case "tx":
		err = r.RegisterTx(dueExec, func(_ context.Context, _ *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			return answer(job), nil
		}, prescient.Guards{})
	}
	if err != nil {
		panic(err)
	}
	return r
}

// run runs the slot that is now.
func (l workload) run(ctx context.Context) (books.Figures, error) {
	db, err := connect.Open(l.DSN, 0)
	if err != nil {
		return books.Figures{}, err
	}
	defer db.Close()
	options := worker.Options{Registry: l.registry(db), Buckets: l.Buckets}
	if l.Alone {
		options.Batch, options.PutOffPurge = 8000, 10*time.Second
	}
	w, err := worker.New(ctx, db, options)
	if err != nil {
		return books.Figures{}, err
	}
	return w.Run(ctx)
}

// runSlot runs the slot in this process, or in several.
func (st *stage) runSlot(ctx context.Context, l workload, processes int) error {
	l.DSN = st.dsn(st.name)
	var figures []books.Figures
	if processes == 1 {
		f, err := l.run(ctx)
		if err != nil {
			return err
		}
		figures = append(figures, f)
	} else {
		results, err := inChildren(ctx, l, processes)
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
	if rows != st.due {
		return fmt.Errorf("%d rows; want %d: %+v", rows, st.due, figures)
	}
	return nil
}
