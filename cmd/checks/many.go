package checks

import (
	"context"
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
	"prescient/prescient/audit"
	"prescient/prescient/bulk"
	"prescient/prescient/worker"
)

// manyFlags are the flags by which cancel and reschedule take all checks that match, in place of those of one entity.
type manyFlags struct {
	exec, slot, from, before, reason string
	dryRun, yes                      bool
}

// manyHelp is what the help of such commands says of them.
const manyHelp = `

Without the key of an entity it takes all checks that the flags match and that are pending when it begins, a batch of 500 after the other with
rests between: it prints how many match, and then how many it was done to. What somebody has locked is tried again, and counted
where it stays so. Interrupted it stops, and what is done stays done; killed, 'bulk work' or serve goes on with it.`

func (f *manyFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	arguments.Time(flags, &f.slot, "slot", "all checks of this slot: 2026-03-01 13:00 (UTC)")
	arguments.Time(flags, &f.from, "from", "all checks of slots from this time on: now+1h")
	arguments.Time(flags, &f.before, "before", "all checks of slots before this time")
	flags.StringVar(&f.reason, "error", "", "all checks whose last error has this text in it")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only say how many checks match, and show a few")
	flags.BoolVar(&f.yes, "yes", false, "yes, all checks that match")
}

// are says whether checks are meant by what matches: none of one entity.
func (f *manyFlags) are(entity string) bool { return !strings.Contains(entity, "/") }

// check refuses what only one of the two ways takes.
func (f *manyFlags) check(entity string) error {
	if f.are(entity) {
		if entity+f.exec+f.slot+f.reason == "" {
			return exit.Usage(errors.New("give --entity name/key, as in --entity order/42; or --exec, --slot or --error for all checks that match"))
		}
		if f.yes == f.dryRun {
			return exit.Usage(errors.New("these flags are for all checks that match: give --dry-run to see how many those are, or --yes"))
		}
		return nil
	}
	if f.slot+f.from+f.before+f.reason != "" || f.dryRun || f.yes {
		return exit.Usage(fmt.Errorf("--entity %s is one entity: --slot, --from, --before, --error, --dry-run and --yes are for all checks that match", words.Clip(entity, 80)))
	}
	return nil
}

// filter reads the flags.
func (f *manyFlags) filter(ctx context.Context, s *program.Session, entity string) (filter bulk.Filter, err error) {
	filter = bulk.Filter{JobExec: f.exec, EntityName: entity, Reason: f.reason}
	from, before, err := s.Period(ctx, f.from, f.before)
	if err != nil {
		return filter, err
	}
	slot, err := s.Moment(ctx, "slot", f.slot)
	for to, at := range map[**time.Time]time.Time{&filter.Slot: slot, &filter.From: from, &filter.Before: before} {
		if !at.IsZero() {
			*to = &at
		}
	}
	return filter, err
}

// manyReport is what such a command prints with --json.
type manyReport struct {
	Number  uint64        `json:"number,string,omitzero"`
	DryRun  bool          `json:"dry_run"`
	Matched int           `json:"matched"`
	Exact   bool          `json:"exact"`
	Sample  []bulk.Sample `json:"sample,omitempty"`
	Done    uint64        `json:"done"`
	LeftOut uint64        `json:"left_out"`
	Refused uint64        `json:"refused"`
	Stopped bool          `json:"stopped"`
	Error   string        `json:"error,omitempty"`
}

// doMany previews a deed and, unless it is a dry run, works it off.
func doMany(cmd *cobra.Command, prog *program.Program, s *program.Session, asked bulk.Asked, dryRun bool, did string) error {
	ctx, all := cmd.Context(), bulk.New(s.Client)
	by := audit.Of(ctx)
	look := func() (bulk.Preview, error) { return all.Look(ctx, s.DB, asked) }
	if !dryRun {
		look = func() (bulk.Preview, error) {
			return all.Preview(ctx, s.DB, asked, bulk.By{Person: by.Person, Reason: by.Reason, Host: by.Host})
		}
	}
	preview, err := look()
	if err != nil {
		return s.Explain(err)
	}
	report := manyReport{Number: preview.Number, DryRun: dryRun, Matched: preview.Count, Exact: preview.Exact}
	about := ""
	if !preview.Exact {
		about = "about " // none of those that were looked at in time match where it is 0
	}
	if dryRun {
		report.Sample = preview.Sample
		if prog.JSON {
			return output.JSON(cmd.OutOrStdout(), report)
		}
		out := output.To(cmd.OutOrStdout())
		var cells [][]string
		for _, one := range preview.Sample {
			cells = append(cells, []string{words.Clip(one.EntityName+"/"+one.EntityKey, 60), words.Clean(one.JobExec), words.Clip(one.Tag, 30), output.Stamp(one.Slot), words.Clip(one.Error, 60)})
		}
		out.Table("", []output.Column{{Title: "entity"}, {Title: "job_exec"}, {Title: "tag"}, {Title: "slot (UTC)"}, {Title: "last error"}}, cells)
		out.Say("%s%d match; nothing was changed", about, preview.Count)
		return out.Err()
	}
	bar := prog.Bar(did, preview.Count)
	err = workMany(ctx, all, s, preview, func(run bulk.Run) { bar.Set(int(run.Done)) })
	if err != nil {
		if left := stopMany(ctx, all, s, preview.Number); left != nil {
			err = errors.Join(err, fmt.Errorf("bulk run %d may be under way still; 'bulk stop %[1]d' stops it: %w", preview.Number, left))
		}
	}
	bar.Stop()
	run, lost := all.Get(context.WithoutCancel(ctx), s.DB, preview.Number)
	if lost != nil {
		return s.Explain(errors.Join(err, lost))
	}
	report.Done, report.LeftOut, report.Refused, report.Stopped, report.Error = run.Done, run.LeftOut, run.Refused, run.StoppedAt != nil, run.Error
	said := output.Answer(cmd.OutOrStdout(), prog.JSON, report, "%s %d of %s%d that matched", did, run.Done, about, preview.Count)
	if run.Refused > 0 {
		beside := output.To(cmd.ErrOrStderr())
		beside.Say("%s refused, since pending already, not to be moved so far, or as no check may be", words.Counted(run.Refused, "was", "were"))
		said = errors.Join(said, beside.Err())
	}
	switch {
	case err != nil || said != nil:
		return s.Explain(errors.Join(err, said))
	case run.Error != "":
		return fmt.Errorf("bulk run %d was given up: %s", run.Number, run.Error)
	case run.StoppedAt != nil:
		return &exit.Error{Code: exit.CodePartly, Err: fmt.Errorf("bulk run %d was stopped by somebody", run.Number)}
	case run.LeftOut > 0:
		return &exit.Error{Code: exit.CodePartly, Err: fmt.Errorf("%s locked by others, or changed by them, each time: run the command again", words.Counted(run.LeftOut, "was", "were"))}
	}
	return nil
}

// workMany begins a deed and works it off, or waits while another process does.
func workMany(ctx context.Context, all *bulk.Bulk, s *program.Session, preview bulk.Preview, after func(bulk.Run)) error {
	if err := all.Start(ctx, s.DB, preview.Number, preview.Token); err != nil {
		return err
	}
	for {
		over, err := all.WorkOn(ctx, s.DB, preview.Number, worker.NewName(), after)
		if over || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// stopWithin is how long an interrupted command has to have its deed stop.
const stopWithin = 5 * time.Second

// stopMany has the deed of an interrupted command end.
func stopMany(ctx context.Context, all *bulk.Bulk, s *program.Session, number uint64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if err := all.Stop(ctx, s.DB, number); err != nil {
		return err
	}
	_, err := all.WorkOn(ctx, s.DB, number, worker.NewName(), nil)
	return err
}
