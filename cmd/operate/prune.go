package operate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/prune"
	"prescient/sql/migrate"
)

// Prune returns the command prune.
func Prune(prog *program.Program) *cobra.Command {
	var options prune.Options
	cmd := &cobra.Command{
		Use:   "prune --keep 90d",
		Short: "Drop old history and the old part of the ledger",
		Long: `Drops what is older than --keep, for good: weeks of history (Monday to Monday, UTC) that are wholly older, and
the ledger of slots for which nothing is pending and that nobody runs. History is so kept for --keep, and at most a week
longer. The logs of the runs of jobs go with it, and events that were kept after they were published. The audit stays, unless
--audit-keep is given. What goes of history is summed up first, by hour and by day: what cannot be stays. Then makes partitions for the coming eight weeks; run it at least that often, daily for instance.

Slot runs go on meanwhile: history is waited for at most a second at a time (MariaDB: three), again and again until
--patience is over. If somebody had it open all the time, such as an analyst in a long query, the exit code is 7, and
stderr says which connection it was; everything else is done, and the next prune drops the rest. The same goes for old rows
that somebody has locked: they are tried for 5 s a table.

Where no partition was ready for a long time, ends lie in the last one, which is never dropped: old ones are deleted from
it row by row, and it is divided once it has no more than --max-copy rows. Writing history waits while it is divided.

What is old is said by the database's clock. Where there is nothing in ledger and history for most of --keep, that clock may
have jumped ahead, and all would go: then nothing is dropped and the exit code is 2, unless --trust-clock says that it is right.`,
		Example: fmt.Sprintf(`  %[1]s prune --keep 90d
  %[1]s prune --keep 90d --audit-keep 730d`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if options.Keep == 0 {
				return exit.Usage(errors.New("give --keep, how long history is kept, such as --keep 90d"))
			}
			return pruneTables(cmd, prog, options)
		},
	}
	flags := cmd.Flags()
	arguments.Within(flags, &options.Keep, "keep", "", prune.MinKeep, math.MaxInt64, "how long history and ledger are kept, such as 90d; at least 1d")
	arguments.Within(flags, &options.KeepAudit, "audit-keep", "", prune.MinKeep, math.MaxInt64,
		"how long the audit is kept, such as 730d (default for ever); the entry of the version that an object has stays")
	arguments.Within(flags, &options.KeepStats, "stats-keep", "1825d", prune.MinKeepStats, math.MaxInt64, "how long the sums of days are kept; those of hours are kept 90d")
	havePatience(flags, &options.Patience, "1m", "somebody has history open")
	flags.BoolVar(&options.TrustClock, "trust-clock", false, "prune also where nothing ran for most of --keep, which looks like a clock that jumped ahead")
	arguments.Number(flags, &options.MaxCopy, "max-copy", prune.DefaultMaxCopy, 1, math.MaxInt,
		"most rows to copy where history was not pruned in time; a second or so for 50000")
	return program.Reasoned(cmd)
}

func pruneTables(cmd *cobra.Command, prog *program.Program, options prune.Options) error {
	return prog.OpenEach(cmd, migrationLease, func(s *program.Session) error {
		options.Prefix, options.Log = s.Config.TablePrefix, s.Log
		bar := prog.Bar("pruning", 0)
		defer bar.Stop()
		options.Progress = pruneProgress(bar, s.Log)
		report, err := prune.Run(cmd.Context(), s.DB, options)
		bar.Stop()
		if errors.Is(err, prune.ErrClockDoubtful) {
			return exit.Usage(fmt.Errorf("%w (--trust-clock)", err))
		}
		if report.Cutoff == nil {
			return s.Explain(err)
		}
		return errors.Join(printPruned(cmd, s, report, err != nil && !errors.Is(err, prune.ErrHistoryHeld) && !errors.Is(err, migrate.ErrHeld)), s.Explain(err))
	})
}

// pruneProgress counts rows on the bar, and weeks before it.
func pruneProgress(b *output.Bar, log zerolog.Logger) func(prune.Report) {
	return func(done prune.Report) {
		b.Say(fmt.Sprintf("pruning, %d weeks dropped, %d made", len(done.Dropped), len(done.Made)))
		b.Set(done.HistoryRows + done.LedgerRows)
		log.Debug().Int("partitions", len(done.Dropped)).Int("history_rows", done.HistoryRows).Int("ledger_rows", done.LedgerRows).Msg("pruning")
	}
}

// rows says how many there are.
func rows(n int) string { return words.Counted(n, "row", "rows") }

// printPruned says what was done; of a prune that failed before it did anything, nothing.
func printPruned(cmd *cobra.Command, s *program.Session, report prune.Report, failed bool) error {
	out := cmd.OutOrStdout()
	if s.Program.JSON {
		return output.JSON(out, report)
	}
	if failed && len(report.Dropped)+len(report.Made)+report.HistoryRows+report.LedgerRows == 0 {
		return nil
	}
	ready := ""
	if !report.ReadyUntil.IsZero() {
		ready = fmt.Sprintf("; %s made ready, until %s", words.Counted(len(report.Made), "week was", "weeks were"), output.Stamp(report.ReadyUntil.Truncate(time.Second)))
	}
	p := output.To(out)
	p.Say("dropped %s of history from before %s and %s of the ledger%s", words.Counted(len(report.Dropped), "week", "weeks"), output.Stamp(*report.Cutoff), rows(report.LedgerRows), ready)
	if report.HistoryRows > 0 {
		p.Say("deleted %s of history that lay in the last partition", rows(report.HistoryRows))
	}
	if report.UnsummedFrom != nil {
		p.Say("kept history from %s on, which could not be summed up yet; the next prune tries again", output.Stamp(*report.UnsummedFrom))
	}
	if report.StatsRows > 0 {
		p.Say("deleted %s of sums of hours and days", rows(report.StatsRows))
	}
	if report.StatsLeft {
		p.Say("left old sums to the next prune, since another process sums up")
	}
	if report.RunLogRows > 0 {
		p.Say("deleted %s of the logs of jobs", rows(report.RunLogRows))
	}
	if report.EventRows > 0 || len(report.DroppedDays) > 0 {
		p.Say("deleted %s and %s of published events", rows(report.EventRows), words.Counted(len(report.DroppedDays), "day", "days"))
	}
	if report.AuditCutoff != nil {
		p.Say("deleted %s of the audit from before %s", words.Counted(report.AuditRows, "entry", "entries"), output.Stamp(*report.AuditCutoff))
	}
	if report.LedgerSlotsKept > 0 {
		p.Say("kept the ledger of %s", words.Counted(report.LedgerSlotsKept, "old slot, which still holds rows or is being run", "old slots, which still hold rows or are being run"))
	}
	if report.Undivided {
		p.Say("the last partition has too many rows to be divided; a larger --max-copy does it, at a quiet time")
	}
	return p.Err()
}
