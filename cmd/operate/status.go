package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/agent"
	"prescient/prescient/doctor"
	"prescient/prescient/event"
	"prescient/prescient/stats"
	"prescient/prescient/status"
)

// statusFails is how many job_execs that fail the screen has; --json has all.
const statusFails = 10

// Status returns the command status.
func Status(prog *program.Program) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:        "status",
		SuggestFor: []string{"top", "health", "overview", "dashboard"},
		Short:      "Show on one screen who works, what is late, what fails, what waits and what comes next",
		Long: fmt.Sprintf(`Shows on one screen, in this order: who works; what is late, how fast that is caught up, and how long it still takes; what
fails by job_exec, why and since when, in the last hour; what waits: pauses, schedules that are disabled, long runs without a place, events; and the next slots with something to do, by the forecast.
Below each stands what is wrong with it and what to do, as doctor finds it; doctor also looks at what does not change in a night: settings,
rights, the tables themselves.

The exit code says how bad it is, as that of doctor: 0 nothing is wrong, 10 there are warnings, 11 something is bad; any other as for every
command. With --watch it looks again every %s until interrupted, and exits with 0. With --json a line a look.

What is locked, and by whom, is shown to accounts with the right PROCESS. What the account may not see is named at the end.`, watchEvery),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return showStatus(cmd, prog, watch) },
	}
	cmd.Flags().BoolVar(&watch, "watch", false, fmt.Sprintf("look again every %s, until interrupted", watchEvery))
	return cmd
}

func showStatus(cmd *cobra.Command, prog *program.Program, watch bool) error {
	return prog.ReadEach(cmd, func(s *program.Session) error {
		var last status.Report
		err := again(cmd, s, watch, func(ctx context.Context, to io.Writer) (err error) {
			if last, err = status.Look(ctx, s.DB, program.DoctorOptions(s.Config)); err != nil {
				return s.Explain(err)
			}
			if prog.JSON {
				return output.JSON(to, last)
			}
			p := output.To(to)
			printStatus(p, last)
			return p.Err()
		})
		if err != nil || watch {
			return err
		}
		return exitOf(last.Severity)
	})
}

// statusTitles are what the sections are called.
var statusTitles = map[status.Section]string{status.Works: "Who works", status.Late: "What is late", status.Fails: "What fails", status.Waits: "What waits", status.Next: "What comes next"}

// statusNone is what is said of a section in which there is nothing, where that is another word.
var statusNone = map[status.Section]string{status.Works: "nobody"}

func printStatus(p *output.Printer, r status.Report) {
	p.Say("%s (UTC), slots of %s: %s", output.Stamp(r.At.Truncate(time.Second)), r.Resolution, howBad(r))
	for _, section := range status.Sections {
		p.Say("\n%s", statusTitles[section])
		said := printSection[section](p, r)
		for _, f := range r.Of(section) {
			sayFinding(p, f.Finding)
			said = true
		}
		if !said {
			p.Say("%s", cmp.Or(statusNone[section], "nothing"))
		}
	}
	if len(r.Unseen) > 0 {
		p.Say("\nNot looked at")
	}
	for _, f := range r.Unseen {
		sayFinding(p, f.Finding)
	}
}

// howBad counts the findings.
func howBad(r status.Report) string {
	bad := 0
	for _, f := range r.Findings {
		if f.Severity == doctor.SeverityBad {
			bad++
		}
	}
	if len(r.Findings) == 0 {
		return "nothing is wrong"
	}
	return fmt.Sprintf("%d bad, %d to know", bad, len(r.Findings)-bad)
}

// printSection prints what there is of a section, and says whether that is anything.
var printSection = map[status.Section]func(*output.Printer, status.Report) bool{
	status.Works: printWorks, status.Late: printLate, status.Fails: printFails, status.Waits: printWaits, status.Next: printNext}

func printWorks(p *output.Printer, r status.Report) bool {
	cells := make([][]string, len(r.Agents))
	for i, a := range r.Agents {
		cells[i] = agentCells(a)
	}
	p.Table("", agentColumns, cells)
	return len(cells) > 0
}

func printLate(p *output.Printer, r status.Report) bool {
	b := r.Backlog
	if b.Slot == nil {
		return false
	}
	count := strconv.FormatInt(b.Checks, 10) + " checks are"
	switch {
	case b.AtLeast:
		count = "about " + count
	case b.Checks == 1:
		count = "1 check is"
	}
	text := fmt.Sprintf("%s overdue, the oldest since %s, %s ago.", count, output.Stamp(*b.Slot), r.At.Sub(*b.Slot).Round(time.Second))
	switch {
	case b.Rate == 0:
		text += " None of such slots ended in the last minute."
	case b.ToGo > 0:
		text += fmt.Sprintf(" %.3g a second end: %s to go at most.", b.Rate, b.ToGo.Round(time.Second))
	}
	p.Say("%s", text)
	return true
}

func printFails(p *output.Printer, r status.Report) bool {
	var cells [][]string
	for _, e := range r.Fails[:min(len(r.Fails), statusFails)] {
		var why, checks string
		if len(e.Reasons) > 0 {
			why, checks = words.Clean(e.Reasons[0].Text), output.Count(e.Reasons[0].Checks)
		}
		cells = append(cells, []string{words.Clean(e.JobExec), output.Count(e.Calls), output.Count(e.Errors), share(e), output.Count(e.Unsettled()), unknown(e), output.Second(e.FailsSince), checks, why})
	}
	p.Table("", []output.Column{{Title: "job_exec"}, {Title: "calls", Right: true}, {Title: "errors", Right: true}, {Title: "of calls", Right: true}, {Title: "unsettled", Right: true},
		{Title: "not called", Right: true}, {Title: "failing since"}, {Title: "of", Right: true}, {Title: "reason", Long: true}}, cells)
	if r.FailsCut {
		p.Say("since %s; what was before was too much to be read", output.Stamp(r.FailsFrom))
	}
	if more := len(r.Fails) - len(cells); more > 0 {
		p.Say("and %d more: stats has all", more)
	}
	return len(cells) > 0
}

// unknown is how many checks were put off since no worker knows their job_exec, or too many of its calls hang.
func unknown(e stats.Exec) string { return output.Count(e.PutOff.Unregistered + e.PutOff.Abandoned) }

func printWaits(p *output.Printer, r status.Report) bool {
	var cells [][]string
	for _, pool := range r.Pools {
		cells = append(cells, poolWaits(pool))
	}
	for _, topic := range r.Topics {
		cells = append(cells, topicWaits(topic))
	}
	p.Table("", []output.Column{{Title: "what"}, {Title: "waiting", Right: true}, {Title: "oldest", Right: true}}, cells)
	return len(cells) > 0
}

func printNext(p *output.Printer, r status.Report) bool {
	var cells [][]string
	for _, part := range r.Next {
		cells = append(cells, []string{output.Stamp(part.Start), part.Start.Sub(r.At).Round(time.Second).String(), output.Count(part.Due), output.Count(part.Occurrences), output.Second(part.EndsAt), inTime(part)})
	}
	p.Table("", []output.Column{{Title: "slot"}, {Title: "in", Right: true}, {Title: "checks", Right: true}, {Title: "occurrences", Right: true}, {Title: "ends"}, {Title: "in time"}}, cells)
	if r.NextAt == nil {
		p.Say("No forecast was made yet.")
	}
	return r.NextAt == nil || len(cells) > 0
}

func poolWaits(pool agent.Pool) []string {
	what := "long runs of the pool " + words.Clean(pool.Name)
	if pool.Name == "" {
		what = "long runs of no pool"
	}
	return []string{what, strconv.Itoa(pool.Waiting), pool.Oldest.Truncate(time.Second).String()}
}

func topicWaits(topic event.Waiting) []string {
	return []string{"events of the topic " + words.Clean(topic.Topic), strconv.Itoa(topic.Events), topic.Age.Round(time.Millisecond).String()}
}
