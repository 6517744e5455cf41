package operate

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/attest"
	"prescient/sql"
)

// attestFlags are the flags of attest.
type attestFlags struct {
	from, before string
	late         time.Duration
	ends         int
}

// Attest returns the command attest.
func Attest(prog *program.Program) *cobra.Command {
	var f attestFlags
	cmd := &cobra.Command{
		Use:        "attest",
		SuggestFor: []string{"prove", "proof", "silence"},
		Short:      "Prove that no slot of a time was missed",
		Long: fmt.Sprintf(`Says of each slot of a time, from ledger, history, pending checks and audit: served by whom and by what, begun how late, how many
rows, and whether history has as many ends; or late, unfinished, missed, not over yet, not known (pruned, or from before the tables were made). Alike slots
share a line. Slots before a reslot are those of their time. It changes nothing, and reads page by page.

A slot is late of which a bucket was begun later than --late, or by a sweep or roll-forward, or finished later than --late once the next
slot had come and sweep.grace was over; so is one that a sweep ran again for a check that was inserted late, and one of which nobody
finished a bucket since what was left for it was cancelled or moved. An end counts for the slot
for which its check waited, however late it came. History is read from the begin until now, %d ends at most, or as --ends says; with
--ends 0 it is not, which proves slots alone.

It exits with 0 where each slot that is over was served in time, one at least, with 11 where one was missed, or ledger and history differ,
and with 10 for all else: a slot that was late, is unfinished or not known, or was not served since everything was paused, history that
was read in part, or an entry of the audit that cannot be read.`, attest.DefaultEnds),
		Example: fmt.Sprintf(`  %[1]s attest --from now-12h
  %[1]s attest --from '2026-03-01 18:00' --before '2026-03-02 06:00' --json`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return proveSlots(cmd, prog, f) },
	}
	flags := cmd.Flags()
	arguments.Time(flags, &f.from, "from", "slots at this time or later: 2026-03-01 13:00 (UTC), now-12h (default a day before the end)")
	arguments.Time(flags, &f.before, "before", "slots before this time, which is over (default now)")
	arguments.Within(flags, &f.late, "late", attest.DefaultLate.String(), time.Millisecond, 24*time.Hour, "a slot that was begun later is late")
	arguments.Number(flags, &f.ends, "ends", attest.DefaultEnds, 0, math.MaxInt, "ends of history to read, at most; 0 for none")
	return cmd
}

func proveSlots(cmd *cobra.Command, prog *program.Program, f attestFlags) error {
	return prog.ReadEach(cmd, func(s *program.Session) (err error) {
		options := attest.Options{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect), Grace: s.Config.Sweep.Grace, Late: f.late, Ends: f.ends}
		if f.ends == 0 {
			options.Ends = -1
		}
		if options.From, options.Before, err = s.Period(cmd.Context(), f.from, f.before); err != nil {
			return err
		}
		report, err := attest.Run(cmd.Context(), s.DB, options)
		var field *prescient.FieldError
		if errors.As(err, &field) {
			return exit.Usage(fmt.Errorf("--%s: %w", field.Field, err))
		}
		if err != nil {
			return s.Explain(err)
		}
		p := output.To(cmd.OutOrStdout())
		if prog.JSON {
			p.JSON(report)
		} else {
			printReport(p, report)
		}
		if p.Err() != nil {
			return p.Err()
		}
		switch report.Verdict {
		case attest.Refuted:
			return &exit.Error{Code: exit.CodeBad, Err: errors.New("a slot was missed, or ledger and history differ"), Printed: true}
		case attest.NotProven:
			return &exit.Error{Code: exit.CodeWarn, Err: errors.New("it is not proven"), Printed: true}
		case attest.Proven:
		}
		return nil
	})
}

// printReport prints a report for people.
func printReport(p *output.Printer, r attest.Report) {
	p.Say("Slots from %s to before %s (UTC), %s; the database's time is %s", output.Stamp(r.From), output.Stamp(r.Before), resolutions(r.Resolutions), output.Second(&r.Now))
	for _, span := range r.Spans {
		p.Say("%s", span)
	}
	for _, state := range slices.Sorted(maps.Keys(r.MoreSpans)) {
		p.Say("and %s of slots that are %s: give a shorter time", words.Counted(r.MoreSpans[state], "more line", "more lines"), string(state))
	}
	for _, differ := range r.Ends.Differences {
		p.Say("%s", differ)
	}
	if more := r.Ends.Differ - len(r.Ends.Differences); more > 0 {
		p.Say("and %s of which ledger and history differ", words.Counted(more, "more slot", "more slots"))
	}
	p.Say("%s: %s", verdicts[r.Verdict], r.Totals)
	for _, text := range r.RestsOn {
		p.Say("Rests on %s.", text)
	}
	for _, text := range r.CannotSee {
		p.Say("Cannot see %s.", text)
	}
}

// verdicts are for people.
var verdicts = map[attest.Verdict]string{attest.Proven: "Proven", attest.NotProven: "Not proven", attest.Refuted: "Refuted"}

// resolutions are those of a span, with their begins where there are several.
func resolutions(list []attest.Resolution) string {
	var parts []string
	for i, r := range list {
		if i == 0 {
			parts = append(parts, r.Resolution+" apart")
		} else {
			parts = append(parts, fmt.Sprintf("from %s on %s", output.Second(&r.From), r.Resolution))
		}
	}
	return strings.Join(parts, ", ")
}
