package worker

import (
	"errors"
	"time"

	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
)

// observeAnswers tells the observer of a commit.
func (w *Worker) observeAnswers(batch []*check.Answered, result commit.Result) {
	if w.options.Observer == nil || w.options.Observer.Answered == nil {
		return
	}
	results := make([]Result, 0, len(batch))
	for _, a := range batch {
		if !result.Contested[a.JobKey] {
			results = append(results, newResult(a, result.Dropped[a.JobKey]))
		}
	}
	if len(results) > 0 {
		w.options.Observer.Answered(results)
	}
}

// observesCommits has the observer told of each commit; nil where it does not want to be.
func (w *Worker) observesCommits() func(slot time.Time, bucket int, began time.Time, err error) {
	o := w.options.Observer
	if o == nil || o.Committed == nil {
		return nil
	}
	return func(slot time.Time, bucket int, began time.Time, err error) {
		o.Committed(Commit{Slot: slot, Bucket: bucket, Began: began, Took: time.Since(began), Err: err})
	}
}

func (w *Worker) observeRun(figures books.Figures, err error) {
	if errors.Is(err, errSetBack) && figures.Idle() {
		return // it was not run
	}
	if o := w.options.Observer; o != nil && o.SlotRun != nil {
		o.SlotRun(figures, err)
	}
}

// tellsServed says whether somebody is told of served slots.
func (w *Worker) tellsServed() bool {
	return w.options.Observer != nil && w.options.Observer.Served != nil
}

func (w *Worker) observeWorking() {
	if o := w.options.Observer; o != nil && o.Working != nil {
		o.Working()
	}
}
