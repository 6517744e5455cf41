package checks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/bulk"
	"prescient/prescient/client"
)

// requeueFlags are the flags of requeue; many has those that other commands have, too.
type requeueFlags struct {
	entity      string
	spread      string
	outcome     prescient.Outcome
	many        manyFlags
	when        arguments.When
	allOutcomes bool
}

// requeueReport is the last line of requeue --json, of one entity.
type requeueReport struct {
	Requeued   int  `json:"requeued"`
	Kept       int  `json:"kept"`
	Superseded int  `json:"superseded"`
	Refused    int  `json:"refused"`
	More       bool `json:"more"`
	DryRun     bool `json:"dry_run"`
}

// Requeue returns the command requeue.
func Requeue(prog *program.Program) *cobra.Command {
	var f requeueFlags
	cmd := &cobra.Command{
		Use:   "requeue (--entity NAME/KEY (--outcome OUTCOME | --all-outcomes) | --outcome OUTCOME --from TIME [--exec NAME] [--entity NAME] (--yes | --dry-run))",
		Short: "Make checks that ended pending again",
		Long: `Makes checks that ended pending again: with their payload, all counts at zero, due at --at, after --in, or at the
next slot. History keeps their ends. What is pending already stays as it is; of a check that ended several times only
the last end counts, whatever the flags say.
With --spread all that match are due evenly over so much time after that, and not all in one slot.

Of one entity it prints what it did with each end: requeued, kept, superseded or refused; with --json a line each, and a
line with the counts. --all-outcomes takes also what is done or was cancelled.

Without the key of an entity it takes all that ended so before it began, as 'cancel' takes all that is pending.`,
		Example: fmt.Sprintf(`  %[1]s requeue --exec order-unshipped --outcome failed --from now-2h --dry-run
  %[1]s requeue --entity order/42 --all-outcomes --in 10m`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := arguments.NotEmpty(cmd, "entity", "exec", "outcome", "from", "before", "error", "at", "in", "spread"); err != nil {
				return err
			}
			if err := f.check(); err != nil {
				return err
			}
			if f.many.are(f.entity) {
				return requeueMany(cmd, prog, f)
			}
			return requeue(cmd, prog, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.entity, "entity", "", "only of this entity (order/42), or of this kind (order)")
	flags.StringVar(&f.many.exec, "exec", "", "only of this job_exec")
	arguments.Parsed(flags, &f.outcome, "outcome", "", prescient.ParseOutcome, "only with this outcome, such as failed or timed_out")
	flags.BoolVar(&f.allOutcomes, "all-outcomes", false, "with every outcome, done and cancelled included; of one entity")
	arguments.Time(flags, &f.many.from, "from", "only what ended at this time or later: 2026-03-01 13:00 (UTC), now-2h; wanted unless one entity is given")
	arguments.Time(flags, &f.many.before, "before", "only what ended before this time")
	flags.StringVar(&f.many.reason, "error", "", "only where the error has this text in it")
	f.when.AddFlags(cmd.Flags())
	flags.StringVar(&f.spread, "spread", "", spreadHelp)
	flags.BoolVar(&f.many.dryRun, "dry-run", false, "only say what would be done")
	flags.BoolVar(&f.many.yes, "yes", false, "yes, all that match")
	return program.Reasoned(cmd)
}

// check reads the flags as far as it can without the database.
func (f *requeueFlags) check() error {
	many := f.many.are(f.entity)
	switch {
	case f.outcome == "" && !f.allOutcomes:
		return exit.Usage(errors.New("give --outcome, such as --outcome failed; of one entity --all-outcomes takes done and cancelled ones too"))
	case f.outcome != "" && f.allOutcomes:
		return exit.Usage(errors.New("give either --outcome or --all-outcomes"))
	case many && f.allOutcomes:
		return exit.Usage(errors.New("--all-outcomes is for one entity; give --outcome"))
	case many && f.many.from == "":
		return exit.Usage(errors.New("give --from, such as --from now-2h"))
	case many && f.many.yes == f.many.dryRun:
		return exit.Usage(errors.New("these flags are for all that match: give --dry-run to see how many those are, or --yes"))
	case !many && (f.many.yes || f.many.reason != "" || f.spread != ""):
		return exit.Usage(fmt.Errorf("--entity %s is one entity: --error, --spread and --yes are for all that match", words.Clip(f.entity, 80)))
	case f.when != (arguments.When{}):
		return f.when.Check()
	}
	return nil
}

// times are from when and before when checks ended, and when they are to be due again; nil for at once.
func (f *requeueFlags) times(ctx context.Context, s *program.Session) (from, before time.Time, due *time.Time, err error) {
	if from, before, err = s.Period(ctx, f.many.from, f.many.before); err != nil || f.when == (arguments.When{}) {
		return from, before, nil, err
	}
	at, err := dueOf(ctx, s, f.when)
	return from, before, &at, err
}

func requeueMany(cmd *cobra.Command, prog *program.Program, f requeueFlags) error {
	over, err := parseSpread(f.spread)
	if err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		from, before, due, err := f.times(cmd.Context(), s)
		if err != nil {
			return err
		}
		asked := bulk.Asked{Deed: bulk.Requeue, DueAt: due, SpreadMS: over.Milliseconds(), Filter: bulk.Filter{JobExec: f.many.exec, EntityName: f.entity, Outcome: f.outcome, Reason: f.many.reason, From: &from}}
		if !before.IsZero() {
			asked.Filter.Before = &before
		}
		return doMany(cmd, prog, s, asked, f.many.dryRun, "requeued")
	})
}

func requeue(cmd *cobra.Command, prog *program.Program, f requeueFlags) error {
	e, err := parseEntity(f.entity)
	if err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		from, before, due, err := f.times(cmd.Context(), s)
		if err != nil {
			return err
		}
		options := client.RequeueOptions{Filter: client.ListFilter{Entity: e, JobExec: f.many.exec, Outcome: f.outcome, From: from, Before: before},
			AllOutcomes: f.allOutcomes, Limit: client.MaxPage, DryRun: f.many.dryRun}
		if due != nil {
			options.DueAt = *due
		}
		did, err := s.Client.Requeue(cmd.Context(), s.DB, options)
		if err != nil && len(did.Jobs) == 0 { // counts of nothing would read as an answer
			return s.Explain(err)
		}
		return errors.Join(printRequeued(cmd, prog, did, f.many.dryRun), s.Explain(err))
	})
}

func printRequeued(cmd *cobra.Command, prog *program.Program, did client.Requeued, dryRun bool) error {
	out := output.To(cmd.OutOrStdout())
	if prog.JSON {
		for _, job := range did.Jobs {
			out.JSON(job)
		}
		out.JSON(requeueReport{did.Requeued, did.Kept, did.Superseded, did.Refused, did.More, dryRun})
		return out.Err()
	}
	var cells [][]string
	for _, job := range did.Jobs {
		entity := prescient.Entity{Name: job.EntityName, Key: job.EntityKey}
		cells = append(cells, []string{string(job.Did), words.Clip(entity.String(), 60), words.Clean(job.JobExec), words.Clip(job.Tag, 30),
			words.Clean(string(job.Outcome)), output.Stamp(job.EndedAt.Truncate(time.Millisecond)), output.Maybe(job.Slot)})
	}
	out.Table("", []output.Column{{Title: "did"}, {Title: "entity"}, {Title: "job_exec"}, {Title: "tag"}, {Title: "outcome"},
		{Title: "ended (UTC)"}, {Title: "slot (UTC)"}}, cells)
	would := ""
	if dryRun {
		would = "would have "
	}
	out.Say("%srequeued %d; %s kept, %d ended again later", would, did.Requeued, words.Counted(did.Kept, "is pending already and was", "are pending already and were"), did.Superseded)
	beside := output.To(cmd.ErrOrStderr())
	if did.Refused > 0 {
		beside.Say("%s refused: no check may have such names or such a payload; insert them by others", words.Counted(did.Refused, "was", "were"))
	}
	if did.More {
		beside.Say("the limit is reached; there are more")
	}
	return errors.Join(out.Err(), beside.Err())
}
