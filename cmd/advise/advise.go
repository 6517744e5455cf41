package advise

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/advice"
	"prescient/prescient/advice/estimate"
	"prescient/sql"
)

// flags are those of advise.
type flags struct {
	from, before, exec, kind, svg, cancels string
	late, least, most, within              time.Duration
	found                                  int
}

// Command returns the command advise.
func Command(prog *program.Program) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:        "advise",
		SuggestFor: []string{"advice", "when"},
		Short:      "Tell from history when what checks wait for happens, and when to check best",
		Long: fmt.Sprintf(`Tells when what checks wait for usually happens, by job_exec and kind of entity, and the ages (since the insert) at which checks find it with
the fewest calls, on average no later than --late, or than they do now. One of them alone, by --exec and --kind, is shown with a curve to paste:
prescient.Advised takes it. Its checks are those that were inserted in the time, ended and pending.

What is done happened between two checks; when the earlier ones of a check were, history does not have, and it is taken from checks that
ended there: regular says how many keep to that, and of fewer than half there is no advice. A cancel is the app's word that it happened just then,
unless --cancels is other. What ended otherwise, and what is pending, had not happened by its last answer. Nothing is advised below the first delay
that was seen, and nothing from fewer than --found happenings that checks found. Where it goes by the time of day (UTC), so does the advice; days of
the week and of the year it does not tell apart.

calls and late are of a check, on average, in slots and with punctual workers. Those of now end at guards such as max_checks, and the advised ones
one call behind the curve. at guard ended by max_checks; near had one answer less than that or as many, and ended otherwise.

About %d ended rows of what is asked for, and %d pending ones, are read at most, each for --within: those with the first keys, which are hashes. The
heading says how many, and of which share of entities. Of one group %d are made use of, and the %d of most checks are advised.`, advice.MaxEnds, advice.MaxPending, advice.MaxChecks, advice.MaxGroups),
		Example: fmt.Sprintf(`  %[1]s advise
  %[1]s advise --exec order-unshipped --late 30m --svg order-unshipped.svg`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, prog) },
	}
	set := cmd.Flags()
	arguments.Time(set, &f.from, "from", "checks inserted at this time or later: 2026-03-01 13:00 (UTC), now-90d; four weeks ago by default")
	arguments.Time(set, &f.before, "before", "checks inserted before this time; now by default")
	set.StringVar(&f.exec, "exec", "", "only this job_exec")
	set.StringVar(&f.kind, "kind", "", "only this kind of entity, such as order")
	arguments.Within(set, &f.late, "late", "", time.Second, prescient.MaxHorizon, "how late what happened may be found, on average; as late as now by default")
	arguments.Within(set, &f.least, "least", "", time.Second, prescient.MaxHorizon, "the least distance between checks; a slot by default")
	arguments.Within(set, &f.most, "most", "", time.Second, prescient.MaxHorizon, "the most distance between checks; 30d by default")
	arguments.Number(set, &f.found, "found", estimate.MinFound, 10, math.MaxInt32, "from how many happenings that checks found there is advice")
	arguments.Within(set, &f.within, "within", advice.Within.String(), time.Second, time.Hour, "how long history is read, and what is pending")
	arguments.Parsed(set, &f.cancels, "cancels", happened, parseCancels, "what a cancel means: happened, or other")
	set.StringVar(&f.svg, "svg", "", "a file for the curve, drawn")
	return cmd
}

// What a cancel may mean.
const (
	happened = "happened"
	other    = "other"
)

func parseCancels(text string) (string, error) {
	if text != happened && text != other {
		return "", fmt.Errorf("%q: %s and %s are allowed", text, happened, other)
	}
	return text, nil
}

func (f *flags) run(cmd *cobra.Command, prog *program.Program) error {
	if err := arguments.NotEmpty(cmd, "from", "before", "exec", "kind", "svg"); err != nil {
		return err
	}
	if f.most > 0 && f.most < f.least {
		return exit.Usage(fmt.Errorf("--most %s is shorter than --least %s", f.most, f.least))
	}
	return prog.Read(cmd, func(s *program.Session) error {
		from, before, err := s.Period(cmd.Context(), cmp.Or(f.from, "now-28d"), cmp.Or(f.before, "now"))
		if err != nil {
			return err
		}
		report, err := advice.Read(cmd.Context(), s.DB, advice.Options{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect), JobExec: f.exec, Entity: f.kind,
			Within: f.within, OtherCancels: f.cancels == other,
			Question: estimate.Question{Late: f.late, Least: f.found, Distances: prescient.Distances{Least: f.least, Most: f.most}}}, from, before)
		if err != nil {
			return s.Explain(err)
		}
		if err := f.draw(report); err != nil {
			return err
		}
		to := output.To(cmd.OutOrStdout())
		switch {
		case prog.JSON:
			to.JSON(report)
		case len(report.Groups) == 0:
			to.Say("No check%s was inserted that anything is known of: %s.", f.of(), span(report))
		case len(report.Groups) == 1:
			show(to, report, report.Groups[0])
		default:
			list(to, report)
		}
		return to.Err()
	})
}

// of says what it was asked for.
func (f *flags) of() string {
	text := ""
	if f.exec != "" {
		text = " of job_exec " + f.exec
	}
	if f.kind != "" {
		text += " on an entity of kind " + f.kind
	}
	return text
}

// draw writes the curve of the only group to the file.
func (f *flags) draw(report advice.Report) error {
	if f.svg == "" {
		return nil
	}
	if len(report.Groups) == 0 {
		return exit.Usage(fmt.Errorf("--svg draws a curve, and no check%s was inserted that anything is known of: %s", f.of(), span(report)))
	}
	if len(report.Groups) != 1 {
		return exit.Usage(fmt.Errorf("--svg draws one curve, and there are %d: give --exec, and --kind where it has several", len(report.Groups)))
	}
	g := report.Groups[0]
	svg, err := g.SVG(g.JobExec + ", " + g.Entity)
	if errors.Is(err, prescient.ErrInvalid) {
		return exit.Usage(err)
	} else if err != nil {
		return err
	}
	return output.File(f.svg, svg)
}

// span says what was looked at.
func span(r advice.Report) string {
	text := fmt.Sprintf("checks inserted from %s to before %s (UTC); %s and %s were read", output.Stamp(r.From), output.Stamp(r.Before),
		words.Counted(r.Ends, "end", "ends"), words.Counted(r.Pending, "pending check", "pending checks"))
	if r.Share < 1 {
		text += fmt.Sprintf(", of %.3g %% of the entities", 100*r.Share)
	}
	return text
}
