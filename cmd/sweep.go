package cmd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"prescient/prescient/worker"
)

func (a *app) sweepCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "sweep",
		GroupID: groupServe,
		Short:   "Run what earlier slots left behind, oldest first",
		Long: `Runs what slots older than sweep.grace left behind, oldest first: rows that were committed after their slot
had run, slots that nobody served, buckets of workers that died. What a live worker holds is left alone; so the slot that
is now is swept only where nobody runs it, and comes first then. A worker that stays up does the same by itself every
sweep.every.

With --json, prints the figures of each slot that was swept, a line each.`,
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serving(cmd, func(s *session) error { return s.sweep(cmd) })
		},
	}
}

func (s *session) sweep(cmd *cobra.Command) error {
	a := s.app
	var bar *bar
	if a.showsBars() {
		s.observer = sweepProgress(&bar)
	}
	w, err := s.newWorker(cmd.Context())
	if err != nil {
		return err
	}
	if a.showsBars() {
		overdue, err := w.Overdue(cmd.Context())
		if err != nil {
			return s.explain(err)
		}
		bar = a.newBar("sweeping slots", overdue)
		defer bar.stop()
	}
	swept, err := w.Sweep(cmd.Context())
	bar.stop()
	if err != nil && !stopped(cmd.Context(), err) {
		return s.explain(err)
	}
	if a.json {
		return printLines(cmd.OutOrStdout(), swept)
	}
	rows := 0
	for _, figures := range swept {
		rows += figures.Rows()
	}
	return say(cmd.OutOrStdout(), "swept %d slots with %d rows", len(swept), rows)
}

// sweepProgress counts slots on the bar, and rows before it.
func sweepProgress(b **bar) *worker.Observer {
	var rows atomic.Int64
	return &worker.Observer{
		SlotRun: func(worker.Figures, error) { (*b).add(1) },
		Answered: func(answers []worker.Result) {
			(*b).say(fmt.Sprintf("sweeping slots, %d rows", rows.Add(int64(len(answers)))))
		},
	}
}

// stopped reports whether an error is no more than the end of the context, which the commands that run slots take as
// the word to stop gracefully.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
