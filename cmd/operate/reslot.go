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
	"prescient/prescient/reslot"
	"prescient/sql"
)

// reslotReport is what reslot --json prints.
type reslotReport struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Resumed bool   `json:"resumed"`
	Rows    int    `json:"rows"`
	TookMS  int64  `json:"took_ms"`
}

// Reslot returns the command reslot.
func Reslot(prog *program.Program) *cobra.Command {
	var options reslot.Options
	cmd := &cobra.Command{
		Use:   "reslot --resolution DURATION",
		Short: "Change the resolution of a live installation",
		Long: `Changes the distance between two slots: alters the tables, and moves each row that is off the new grid to the
next slot on it, never to an earlier one. Stop the workers first, or let it stop them: from its first statement on
nothing is claimed, and clients and workers stop, saying that slot_config has changed. It waits for their leases; where
these are not given back in time it changes nothing.

Interrupted half-way it has to be run again, to the same resolution or another: until then nothing runs and nothing
starts. Plain INSERTs from any language go on, except while the server copies future_job at the end. What comes due
meanwhile is swept up afterwards. An ALTER waits for future_job for a second at a time (MariaDB: three); where somebody had
it open until --patience was over, the exit code is 7, and stderr says who. Then set slots.resolution in the configuration, and start everything again.`,
		Example: fmt.Sprintf(`  %[1]s reslot --resolution 5m
  %[1]s reslot --resolution 1h --wait 10m`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return changeResolution(cmd, prog, options) },
	}
	flags := cmd.Flags()
	arguments.Duration(flags, &options.Resolution, "resolution", "", "the new distance between two slots, such as 5m; divides a day")
	arguments.Within(flags, &options.LeaseWait, "wait", reslot.DefaultLeaseWait.String(), 0, math.MaxInt64, "how long to wait for leases that live; 0s for not at all")
	havePatience(flags, &options.Patience, "10m", "somebody has future_job open, or the server is away")
	return program.Reasoned(cmd)
}

func changeResolution(cmd *cobra.Command, prog *program.Program, options reslot.Options) error {
	if options.Resolution == 0 {
		return exit.Usage(errors.New("give --resolution, such as --resolution 5m"))
	}
	if options.LeaseWait == 0 { // to the library 0 is the default
		options.LeaseWait = -1
	}
	return prog.Open(cmd, migrationLease, func(s *program.Session) error {
		bar := prog.Bar("reslot", 0)
		defer bar.Stop()
		options.Prefix, options.Dialect, options.Log = s.Config.TablePrefix, sql.Dialect(s.Config.Dialect), s.Log
		options.Progress = reslotProgress(bar, s.Log)
		did, err := reslot.Run(cmd.Context(), s.DB, options)
		bar.Stop()
		if err != nil {
			return s.Explain(err)
		}
		if prog.JSON {
			return output.JSON(cmd.OutOrStdout(), reslotReport{did.From.String(), did.To.String(), did.Resumed, did.Rows, did.Took.Milliseconds()})
		}
		err = output.Say(cmd.OutOrStdout(), "slots are %s apart, before %s; moved %s", did.To, did.From, rows(did.Rows))
		if err == nil && s.Config.Grid.Resolution() != options.Resolution {
			err = output.Say(cmd.ErrOrStderr(), "the configuration has slots.resolution %s: set it to %s before you start anything", s.Config.Grid, did.To)
		}
		return err
	})
}

// reslotSteps are what a bar says of the steps.
var reslotSteps = map[reslot.Step]string{
	reslot.StepWait:   "waiting for leases",
	reslot.StepAlter:  "altering the table",
	reslot.StepMove:   "moving rows",
	reslot.StepCheck:  "checking every row: inserts wait",
	reslot.StepFinish: "finishing",
}

// reslotProgress shows the step and the rows on the bar; where there is none, the log has them, once a second at most.
func reslotProgress(b *output.Bar, log zerolog.Logger) func(reslot.Progress) {
	var told reslot.Progress
	at := time.Now()
	return func(p reslot.Progress) {
		b.Say(fmt.Sprintf("%s, %d slots", reslotSteps[p.Step], p.Slots))
		b.Set(p.Rows)
		if b == nil && (p.Step != told.Step || time.Since(at) > time.Second) {
			log.Info().Str("step", string(p.Step)).Int("slots", p.Slots).Int("rows", p.Rows).Msg("reslot")
			told, at = p, time.Now()
		}
	}
}
