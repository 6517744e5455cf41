package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/service"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

// sweepReport is a line of sweep --json.
type sweepReport struct {
	Shard string `json:"shard,omitempty"` // of Vitess
	books.Figures
}

// Sweep returns the command sweep.
func Sweep(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "sweep",
		Short: "Run what earlier slots left behind, oldest first",
		Long: `Runs what slots older than sweep.grace left behind, oldest first: rows that were committed after their slot
had run, slots that nobody served, buckets of workers that died. What a live worker holds is left alone; so the slot that
is now is swept only where nobody runs it, and comes first then. A worker that stays up does the same by itself every
sweep.every. Where job_execs took on long runs, it ends when these do, or hands them on when it is told to stop.

With --json, prints the figures of each slot that was swept, a line each.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var bar *output.Bar
			return serving(cmd, prog, runs{
				with: func(_ context.Context, _ *program.Session, o *service.Options) error {
					if prog.ShowsBars() {
						o.Worker.Observer = sweepProgress(&bar)
					}
					return nil
				},
				each: func(ctx context.Context, s *program.Session) error { return sweepUp(ctx, s, &bar, cmd.OutOrStdout()) },
			})
		},
	}
}

func sweepUp(ctx context.Context, s *program.Session, b **output.Bar, out io.Writer) error {
	prog := s.Program
	var begins func(overdue int)
	if prog.ShowsBars() {
		begins = func(overdue int) { *b = prog.Bar("sweeping slots", overdue) }
	}
	swept, err := s.Service.Sweep(ctx, begins)
	(*b).Stop()
	defer forecastOnce(ctx, s, s.Service.Name()) // after what is printed
	if err != nil && !stopped(ctx, err) {
		return s.Explain(err)
	}
	if prog.JSON {
		lines := make([]sweepReport, len(swept))
		for i, figures := range swept {
			lines[i] = sweepReport{s.Shard, figures}
		}
		return output.Lines(out, lines)
	}
	rows := 0
	for _, figures := range swept {
		rows += figures.Rows()
	}
	where := ""
	if s.Shard != "" {
		where = "shard " + s.Shard + ": "
	}
	return output.Say(out, where+"swept %s with %s", words.Counted(len(swept), "slot", "slots"), words.Counted(rows, "row", "rows"))
}

// sweepProgress counts slots on the bar, and rows before it.
func sweepProgress(b **output.Bar) *worker.Observer {
	var rows atomic.Int64
	return &worker.Observer{
		SlotRun: func(books.Figures, error) { (*b).Add(1) },
		Answered: func(answers []worker.Result) {
			(*b).Say(fmt.Sprintf("sweeping slots, %d rows", rows.Add(int64(len(answers)))))
		},
	}
}

// stopped reports whether an error is no more than the end of the context, which the commands that run slots take as
// the word to stop gracefully.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
