package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/times"
	"prescient/config/value"
	"prescient/prescient/schedule/timeline"
	"prescient/slots"
)

// occurrence is what schedule next --json prints.
type occurrence struct {
	At    time.Time `json:"at"`
	Local time.Time `json:"local"` // the same, in the zone
}

// nextFlags are the flags of schedule next.
type nextFlags struct {
	zone, from, resolution string
	count                  int
}

// mostOccurrences bounds what one command prints.
const mostOccurrences = 1000

func nextCommand(prog *program.Program) *cobra.Command {
	var f nextFlags
	cmd := &cobra.Command{
		Use:   "next CRONTAB...",
		Short: "Print when crontabs fire next",
		Long: `Prints when crontabs fire next, a time a line in the zone's offset; of several, when any of them does. Asks no
database: "now" is this machine's.

A crontab has five fields (minute, hour, day of month, month, day of week), or six with the second before them. Fields
have numbers, names, ranges, steps and lists; L, L-3, 15W, LW and fri#3, fri#L in the fields of days, where ? is *. Where
both of these restrict, either is enough. Or it is @hourly, @daily, @weekly, @monthly, @yearly, @every 1d12h (counted from
--from), or @at with an RFC 3339 time or seconds since 1970.

Where clocks are changed, a crontab for all 24 hours fires each real hour. Any other fires once: at the first of two
times that read the same, and right after the gap for one that is left out.`,
		Example: fmt.Sprintf(`  %[1]s schedule next '30 2 * * *' --zone Europe/Berlin --from 2026-03-28T00:00:00Z -n 3
  %[1]s schedule next '0 9 * * mon-fri' '0 12 * * sat' --zone America/New_York --resolution 15m`, prog.Name),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage(errors.New("schedule next takes crontabs, but was given none; give one such as '30 2 * * *', in quotes"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return next(cmd, prog, f, args, time.Now()) },
	}
	cmd.Flags().StringVar(&f.zone, "zone", "UTC", "time zone of the fields, such as Europe/Berlin")
	cmd.Flags().StringVar(&f.from, "from", "now", "after this time: 2026-03-01 13:00 (UTC), now+1h")
	arguments.Number(cmd.Flags(), &f.count, "n", 10, 1, mostOccurrences, fmt.Sprintf("how many to print: 1 to %d", mostOccurrences))
	cmd.Flags().StringVar(&f.resolution, "resolution", "", "refuse crontabs of which two of the first 1,000 times are in one slot of this length, such as 15m")
	return cmd
}

func next(cmd *cobra.Command, prog *program.Program, f nextFlags, crontabs []string, now time.Time) error {
	from, err := times.Parse(f.from, now)
	if err != nil {
		return exit.Usage(fmt.Errorf("--from: %w", err))
	}
	line, err := timeline.Parse(crontabs, f.zone, from)
	if err != nil {
		return exit.Usage(fmt.Errorf("%w%s", err, quotesMissing(crontabs)))
	}
	if cmd.Flags().Changed("resolution") {
		if err := fineEnough(line, f.resolution, from); err != nil {
			return exit.Usage(err)
		}
	}
	printed := 0
	for at := range line.After(from) {
		local := at.In(line.Zone())
		err = output.Answer(cmd.OutOrStdout(), prog.JSON, occurrence{at, local}, "%s", local.Format(time.RFC3339Nano))
		if printed++; err != nil || printed == f.count {
			return err
		}
	}
	return output.Say(cmd.ErrOrStderr(), "no more is to come")
}

// quotesMissing is a hint for who lets the shell take a crontab apart.
func quotesMissing(crontabs []string) string {
	apart := func(crontab string) bool {
		return !strings.ContainsAny(crontab, " \t") && !strings.HasPrefix(crontab, "@")
	}
	if len(crontabs) > 1 && slices.ContainsFunc(crontabs, apart) {
		return "; each crontab is in quotes, such as '30 2 * * *'"
	}
	return ""
}

// fineEnough refuses a timeline that has two occurrences in a slot.
func fineEnough(line *timeline.Timeline, resolution string, from time.Time) error {
	length, err := value.ParseDuration(resolution)
	if err != nil {
		return fmt.Errorf("--resolution: %w", err)
	}
	grid, err := slots.NewGrid(length)
	if err != nil {
		return fmt.Errorf("--resolution: %w", err)
	}
	return line.TooFine(grid, from, 0)
}
