package worker

import (
	"errors"

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
