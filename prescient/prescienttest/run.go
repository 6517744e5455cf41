package prescienttest

import (
	"cmp"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

// RunDue runs every slot that is due by the kit's clock, oldest first: those that are past as the sweeper does, then the
// one that is now. It returns the figures of the slots that were run. The clock stays where it is.
//
// A worker that is started up to two seconds before a slot waits for it. In these two seconds RunDue runs what is due as
// of just before them.
func (k *Kit) RunDue() []books.Figures {
	k.t.Helper()
	w, stop := k.worker(k.runTime())
	defer stop()
	figures, err := w.Sweep(k.t.Context())
	k.must(err)
	now, err := w.Run(k.t.Context())
	k.must(err)
	if n := len(figures); n > 0 && figures[n-1].Slot.Equal(now.Slot) && now.Idle() {
		return figures // on a busy machine the grace of the sweep was over, so that it ran the slot that is now
	}
	return append(figures, now)
}

// RunFor is RunUntil a time from now.
func (k *Kit) RunFor(d time.Duration) []books.Figures {
	k.t.Helper()
	return k.RunUntil(k.Now().Add(d))
}

// RunUntil moves the clock on to a time, and on its way runs each slot that holds something when it comes, the one that
// it ends at included. It returns their figures.
func (k *Kit) RunUntil(t time.Time) []books.Figures {
	k.t.Helper()
	var all []books.Figures
	for {
		page, err := k.client.Pending(k.t.Context(), k.db, client.ListFilter{Before: t.Add(time.Microsecond), Limit: 1})
		k.must(err)
		if len(page) == 0 {
			break
		}
		slot := page[0].NextCheckAt
		if slot.After(k.Now()) {
			k.At(slot)
		}
		figures := k.RunDue()
		rows := 0
		for _, f := range figures {
			rows += f.Rows() + f.Dropped
		}
		if rows == 0 {
			k.t.Fatalf("prescienttest: slot %s holds %s of %s, but nothing of it was run; is its row locked?",
				slot.Format(time.RFC3339), page[0].JobExec, page[0].Entity())
		}
		all = append(all, figures...)
	}
	if t.After(k.Now()) {
		k.At(t)
	}
	return all
}

// runTime is the time by which a worker runs the slot that is now: the kit's, but not so close before the next slot that
// it would wait for that.
func (k *Kit) runTime() time.Time {
	now := k.Now()
	early := k.grid.Next(now).Add(-min(2*time.Second, k.grid.Resolution()/10) - time.Second/10)
	if now.After(early) {
		return later(early, k.grid.Floor(now))
	}
	return now
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// worker returns a worker whose server's clock stands at a time.
func (k *Kit) worker(now time.Time) (w *worker.Worker, stop func()) {
	k.t.Helper()
	config := k.config.Clone()
	config.Params = map[string]string{"timestamp": timestamp(now)}
	for name, value := range k.config.Params {
		config.Params[name] = value
	}
	db, err := connect.Open(config.FormatDSN(), 0)
	k.must(err)
	log := zerolog.New(zerolog.NewTestWriter(k.t)).Level(zerolog.WarnLevel)
	if k.options.Log != nil {
		log = *k.options.Log
	}
	w, err = worker.New(k.t.Context(), db, worker.Options{Prefix: k.options.Prefix, Registry: k.registry,
		Guards: k.options.Guards, Sweep: worker.Sweep{Grace: time.Millisecond}, Log: log, Observer: &worker.Observer{Answered: k.note}})
	if err != nil {
		_ = db.Close()
	}
	k.must(err)
	return w, func() { _ = db.Close() }
}

// note keeps what job_execs answered.
func (k *Kit) note(answers []worker.Result) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, slices.DeleteFunc(slices.Clone(answers), func(a worker.Result) bool { return !a.Called })...)
}

// Calls returns the calls of a job_exec, or of all with "", in the order in which they were started: what each was called
// with, and what came of it.
func (k *Kit) Calls(jobExec string) []worker.Result {
	k.mu.Lock()
	defer k.mu.Unlock()
	calls := slices.DeleteFunc(slices.Clone(k.calls), func(a worker.Result) bool { return jobExec != "" && a.Job.JobExec != jobExec })
	slices.SortStableFunc(calls, func(a, b worker.Result) int {
		return cmp.Or(a.Job.NextCheckAt.Compare(b.Job.NextCheckAt), a.Started.Compare(b.Started))
	})
	return calls
}
