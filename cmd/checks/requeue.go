package checks

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/client"
)

// requeueFlags are the flags of requeue.
type requeueFlags struct {
	entity, exec, since, before string
	outcome                     prescient.Outcome
	when
	limit               int
	allOutcomes, dryRun bool
}

// requeueReport is the last line of requeue --json.
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
		Use:   "requeue [--entity NAME/KEY] [--exec NAME] (--outcome OUTCOME | --all-outcomes) --since TIME",
		Short: "Make checks that ended pending again",
		Long: `Makes checks that ended pending again: with their payload, all counts at zero, due at --at, after --in, or at the
next slot. History keeps their ends. What is pending already stays as it is; of a check that ended several times only
the last end counts, whatever the flags say. The latest ends come first, --limit of them at most.

It wants an outcome, since most checks that ended are done, or were cancelled. --all-outcomes takes those too.

It prints what it did with each end: requeued, kept, superseded or refused; with --json a line each, and a line with the counts.`,
		Example: fmt.Sprintf(`  %[1]s requeue --exec order-unshipped --outcome failed --since now-2h --dry-run
  %[1]s requeue --entity order/42 --all-outcomes --in 10m`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := arguments.NotEmpty(cmd, "entity", "exec", "outcome", "since", "before", "at", "in"); err != nil {
				return err
			}
			return requeue(cmd, prog, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.entity, "entity", "", "only of this entity (order/42), or of this kind (order)")
	flags.StringVar(&f.exec, "exec", "", "only of this job_exec")
	arguments.Parsed(flags, &f.outcome, "outcome", "", prescient.ParseOutcome, "only with this outcome, such as failed or timed_out")
	flags.BoolVar(&f.allOutcomes, "all-outcomes", false, "with every outcome, done and cancelled included")
	arguments.Time(flags, &f.since, "since", "only what ended at this time or later: 2026-03-01 13:00 (UTC), now-2h; wanted unless one entity is given")
	arguments.Time(flags, &f.before, "before", "only what ended before this time")
	flags.StringVar(&f.at, "at", "", "when to check: 2026-03-01 13:00 (UTC), now+1h")
	flags.StringVar(&f.in, "in", "", "how long from now to check, such as 10m")
	arguments.Number(flags, &f.limit, "limit", 1000, 1, client.MaxPage, fmt.Sprintf("how many to requeue at most: 1 to %d", client.MaxPage))
	flags.BoolVar(&f.dryRun, "dry-run", false, "only say what would be done")
	return program.Reasoned(cmd)
}

// check reads the flags as far as it can without the database.
func (f *requeueFlags) check() (client.ListFilter, error) {
	list := listFlags{entity: f.entity, exec: f.exec, outcome: f.outcome, limit: 1, search: client.DefaultSearch}
	filter, err := list.check()
	if err != nil {
		return filter, err
	}
	switch {
	case f.outcome == "" && !f.allOutcomes:
		return filter, exit.Usage(errors.New("give --outcome, such as --outcome failed; --all-outcomes takes done and cancelled ones too"))
	case f.outcome != "" && f.allOutcomes:
		return filter, exit.Usage(errors.New("give either --outcome or --all-outcomes"))
	case f.allOutcomes && f.entity+f.exec == "":
		return filter, exit.Usage(errors.New("--all-outcomes: give --entity or --exec too"))
	case !strings.Contains(f.entity, "/") && f.since == "":
		return filter, exit.Usage(errors.New("give --since, such as --since now-2h"))
	}
	if f.at+f.in != "" {
		return filter, f.when.check()
	}
	return filter, nil
}

func requeue(cmd *cobra.Command, prog *program.Program, f requeueFlags) error {
	filter, err := f.check()
	if err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		if filter.From, filter.Before, err = s.Period(cmd.Context(), "since", f.since, "before", f.before); err != nil {
			return err
		}
		options := client.RequeueOptions{Filter: filter, AllOutcomes: f.allOutcomes, Limit: f.limit, DryRun: f.dryRun}
		if f.at+f.in != "" {
			if options.DueAt, err = dueOf(cmd.Context(), s, f.when); err != nil {
				return err
			}
		}
		did, err := s.Client.Requeue(cmd.Context(), s.DB, options)
		if err != nil && len(did.Jobs) == 0 { // counts of nothing would read as an answer
			return s.Explain(err)
		}
		return errors.Join(printRequeued(cmd, prog, did, f.dryRun), s.Explain(err))
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
	out.Say("%srequeued %d; %d are pending already and were kept, %d ended again later", would, did.Requeued, did.Kept, did.Superseded)
	beside := output.To(cmd.ErrOrStderr())
	if did.Refused > 0 {
		beside.Say("%d were refused: no check may have such names or such a payload; insert them by others", did.Refused)
	}
	if did.More {
		beside.Say("the limit is reached; there are more")
	}
	return errors.Join(out.Err(), beside.Err())
}
