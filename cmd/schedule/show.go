package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// shown is what show --json prints.
type shown struct {
	listed
	// Timer is the row that waits for the next occurrence; null where there is none, as of one that is paused.
	Timer *prescient.FutureJob `json:"timer"`
	// Runs are those that wait, the next first; Ends the last that ended, the latest first.
	Runs []prescient.FutureJob `json:"runs"`
	// LongRuns are those of a long schedule that did not end, the latest first.
	LongRuns []longrun.State `json:"long_runs,omitempty"`
	Ends     []client.Ended  `json:"ends"`
	Times    []time.Time     `json:"times"`
}

// What show prints of rows at most.
const (
	mostRuns = 1000
	mostEnds = 10
	// endsRead is how many ends are read for these: each change ends a timer.
	endsRead = 10 * mostEnds
)

// showFlags are the flags of show.
type showFlags struct {
	run   string
	count int
}

func showCommand(prog *program.Program) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show ID | --run RUN",
		Short: "Show all that is known of a schedule, or of one of its runs",
		Long: fmt.Sprintf(`Shows a schedule: its definition and state, the timer that waits for its next occurrence, the runs that wait, the last
%d that ended, and its next occurrences; of one that is long also the runs that are under way: who has them, since when, and
until when without being renewed. If there is none, the exit code is 3.

--run takes the id of a run or an event, <schedule>-<unix>, and shows the rows of this run alone. An event has none: it
stands in the outbox until it is forwarded.`, mostEnds),
		Example: fmt.Sprintf(`  %[1]s schedule show digest/42
  %[1]s schedule show --run digest/42-1795168800`, prog.Name),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || (len(args) == 0) == (f.run == "") {
				return exit.Usage(errors.New("schedule show takes the id of one schedule, or --run with that of a run"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return show(cmd, prog, f, strings.Join(args, "")) },
	}
	cmd.Flags().StringVar(&f.run, "run", "", "the id of a run or an event: <schedule>-<unix>")
	arguments.Number(cmd.Flags(), &f.count, "n", 5, 0, mostOccurrences, fmt.Sprintf("how many of the next occurrences: 0 to %d", mostOccurrences))
	return cmd
}

func show(cmd *cobra.Command, prog *program.Program, f showFlags, id string) (err error) {
	tag := ""
	if f.run != "" {
		id, tag, err = schedule.ParseID(f.run)
	} else {
		_, err = wantIDs(cmd, []string{id})
	}
	if err != nil {
		return err
	}
	return prog.Read(cmd, func(s *program.Session) error {
		found, err := look(cmd.Context(), s, id, tag, f.count)
		var denied *deniedError
		if err != nil && !errors.As(err, &denied) {
			return s.Explain(err)
		}
		switch {
		case prog.JSON:
			err = output.JSON(cmd.OutOrStdout(), found)
		case tag != "":
			err = found.printRun(cmd.OutOrStdout(), f.run)
		default:
			err = found.print(cmd.OutOrStdout())
		}
		if err == nil && denied != nil {
			err = output.Say(cmd.ErrOrStderr(), "%s: warning: %s", prog.Name, error(denied))
		}
		return err
	})
}

// deniedError says what an account may not read; what it may was read.
type deniedError struct{ error }

// look reads a schedule and its rows; with a tag those of this run alone. A *deniedError comes with all the rest.
func look(ctx context.Context, s *program.Session, id, tag string, count int) (found shown, err error) {
	one, err := s.Schedules.Get(ctx, s.DB, id)
	if err != nil {
		return found, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return found, err
	}
	filter := client.ListFilter{Entity: prescient.Entity{Name: prescient.ScheduleEntity, Key: id}, Tag: tag, Limit: mostRuns}
	rows, err := s.Client.Pending(ctx, s.DB, filter)
	if err != nil {
		return found, err
	}
	for _, row := range rows {
		if row.JobExec == schedule.TimerExec {
			found.Timer = &row
			continue
		}
		found.Runs = append(found.Runs, row)
	}
	due, err := s.Schedules.Timers(ctx, s.DB, id)
	if err != nil {
		return found, err
	}
	found.listed = listedOf(one, due[id])
	found.Times = definition.Next(one, due, now, count) // of one that is no good DisabledReason says why, once the timer was called
	var denials []error
	if one.Long {
		found.LongRuns, err = s.Schedules.LongRuns(ctx, s.DB, id, mostRuns)
		found.LongRuns = slices.DeleteFunc(found.LongRuns, func(run longrun.State) bool { return tag != "" && run.Occurrence != tag })
		if err != nil && !exit.IsDenied(err) {
			return found, err
		} else if err != nil {
			denials = append(denials, fmt.Errorf("what is under way cannot be seen by this account: %w", err))
		}
	}
	filter.Limit = endsRead
	ends, err := s.Client.History(ctx, s.DB, filter)
	ends = slices.DeleteFunc(ends, func(e client.Ended) bool { return e.JobExec == schedule.TimerExec }) // those of changes
	found.Ends = ends[:min(len(ends), mostEnds)]
	if err != nil && !exit.IsDenied(err) {
		return found, err
	} else if err != nil {
		denials = append(denials, fmt.Errorf("what ended cannot be seen by this account: %w", err))
	}
	if len(denials) > 0 {
		return found, &deniedError{errors.Join(denials...)}
	}
	return found, nil
}

func (f shown) print(out io.Writer) error {
	created, updated := output.Second(&f.CreatedAt), output.Second(&f.UpdatedAt)
	lines := [][2]string{{"id", f.ID}}
	for _, crontab := range f.Crontab {
		lines = append(lines, [2]string{"crontab", crontab})
	}
	payload := ""
	if f.Payload != nil {
		payload = fmt.Sprintf("%s (%d bytes)", words.Clip(*f.Payload, 200), len(*f.Payload))
	}
	lines = append(lines, [][2]string{{"zone", f.Zone}, {"exec", f.Exec}, {"topic", f.Topic}, {"payload", payload},
		{"payload_base64", words.Clip(f.PayloadBase64, 200)}, {"owner", f.Owner}, {"catch_up", f.CatchUp}, {"catch_up_within", f.CatchUpWithin},
		{"expires_after", f.ExpiresAfter}, {"jitter", f.Jitter}, {"coalesce", orBlank(f.Coalesce)}, {"long", orBlank(f.Long)},
		{"overlap", f.Overlap}, {"tolerance", f.Tolerance}, {"quota", f.Quota}, {"pool", f.Pool}, {"heartbeat", f.Heartbeat}, {"state", f.state()},
		{"passed_over", output.Count(f.PassedOver)}, {"version", strconv.FormatUint(f.Version, 10)}, {"created_at", created}, {"updated_at", updated},
		{"last_started_at", output.Second(f.LastStartedAt)}}...)
	if t := f.Timer; t != nil {
		lines = append(lines, [][2]string{{"timer due_at", output.Stamp(t.DueAt)}, {"timer slot", output.Stamp(t.NextCheckAt)},
			{"timer errors", output.Count(t.ErrorCount)}, {"timer error", t.LastError}}...)
	}
	for _, at := range f.Times {
		lines = append(lines, [2]string{"next", output.Stamp(at)})
	}
	p := output.To(out)
	p.Fields(15, lines)
	f.sayRows(p)
	return p.Err()
}

func orBlank(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// printRun prints the rows of one run.
func (f shown) printRun(out io.Writer, run string) error {
	p := output.To(out)
	p.Say("%s of %s, which %s", run, f.ID, f.target())
	if len(f.Runs)+len(f.LongRuns)+len(f.Ends) == 0 {
		p.Say("it has no rows: it is an event, or was not due yet, or ended before history begins")
	}
	f.sayRows(p)
	return p.Err()
}

func (f shown) sayRows(p *output.Printer) {
	f.sayLongRuns(p)
	var waiting, ended [][]string
	for _, r := range f.Runs {
		waiting = append(waiting, []string{words.Clip(f.ID+"-"+r.Tag, 100), words.Clean(r.JobExec), output.Stamp(r.DueAt), output.Stamp(r.NextCheckAt),
			output.Count(r.CheckCount), output.Count(r.ErrorCount), words.Clip(r.LastError, 60)})
	}
	p.Table("\nthat wait:", []output.Column{{Title: "run"}, {Title: "job_exec"}, {Title: "due at"}, {Title: "slot (UTC)"},
		{Title: "checks", Right: true}, {Title: "errors", Right: true}, {Title: "last error"}}, waiting)
	for _, e := range f.Ends {
		run := f.ID
		if e.Tag != "" {
			run += "-" + e.Tag
		}
		ended = append(ended, []string{output.Stamp(e.EndedAt.Truncate(time.Millisecond)), words.Clip(run, 100), words.Clean(e.JobExec), words.Clean(string(e.Outcome)),
			output.Stamp(e.DueAt), words.Clip(e.Error, 60)})
	}
	p.Table("\nthat ended:", []output.Column{{Title: "ended (UTC)"}, {Title: "run"}, {Title: "job_exec"}, {Title: "outcome"}, {Title: "due at"},
		{Title: "error"}}, ended)
}
