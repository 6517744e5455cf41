package job

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/schedule/timeline"
	"prescient/prescient/steps"
)

// listed is a job in a list, in JSON.
type listed struct {
	Name           string     `json:"name"`
	Version        uint64     `json:"version"`
	Crontab        []string   `json:"crontab"`
	Zone           string     `json:"zone"`
	Steps          []string   `json:"steps"`
	Pool           string     `json:"pool,omitempty"`
	Enabled        bool       `json:"enabled"`
	Unreadable     string     `json:"unreadable,omitempty"` // why it does not run though it is enabled
	DisabledReason string     `json:"disabled_reason,omitempty"`
	Wrong          string     `json:"wrong,omitempty"`
	Next           *time.Time `json:"next"`
	LastStartedAt  *time.Time `json:"last_started_at,omitempty"`
	UpdatedAt      time.Time  `json:"updated_at"`
}

// listedOf is a job with what its timer waits for; zero where it has none.
func listedOf(job steps.Stored, due time.Time) listed {
	l := listed{Name: job.Name, Version: job.Version, Crontab: job.Crontabs, Zone: job.Zone, Pool: job.Pool, Enabled: job.Schedule.Enabled,
		DisabledReason: job.Schedule.DisabledReason, Next: definition.Time(due), LastStartedAt: definition.Time(job.Schedule.LastStartedAt), UpdatedAt: job.UpdatedAt}
	if l.Enabled {
		l.Unreadable = timeline.Unreadable(job.Schedule.Crontabs, job.Schedule.Zone)
	}
	if job.Wrong != nil {
		l.Wrong = job.Wrong.Error()
	}
	for _, step := range job.Steps {
		l.Steps = append(l.Steps, step.Name)
	}
	return l
}

func (l listed) state() string {
	switch {
	case l.Wrong != "":
		return l.Wrong
	case l.Unreadable != "":
		return "cannot run: " + l.Unreadable
	case l.Enabled:
		return "enabled"
	case l.DisabledReason != "":
		return "disabled: " + l.DisabledReason
	}
	return "paused"
}

func listCommand(prog *program.Program) *cobra.Command {
	var step bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List jobs, or shared steps",
		Long:  `Lists jobs in the order of their names, or with --step shared steps.`,
		Example: fmt.Sprintf(`  %[1]s job list
  %[1]s job list --step`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if step {
				return listSteps(cmd, prog)
			}
			return list(cmd, prog)
		},
	}
	cmd.Flags().BoolVar(&step, "step", false, "list shared steps")
	return cmd
}

func list(cmd *cobra.Command, prog *program.Program) error {
	page := output.Page[listed]{Limit: math.MaxInt - 1, Line: func(l listed) any { return l }, None: "there are no jobs", Columns: []output.Column{{Title: "job"},
		{Title: "version", Right: true}, {Title: "crontab"}, {Title: "zone"}, {Title: "steps"}, {Title: "pool"}, {Title: "state"}, {Title: "next (UTC)"}, {Title: "last start"}},
		Cells: listed.cells}
	return program.List(cmd, prog, page, func(s *program.Session) ([]listed, *output.Early, error) {
		var jobs []steps.Stored
		var ids []string
		err := eachJob(cmd.Context(), s, func(job steps.Stored) error {
			jobs, ids = append(jobs, job), append(ids, job.Schedule.ID)
			return nil
		})
		if err != nil {
			return nil, nil, s.Explain(err)
		}
		due, err := definition.Timers(cmd, s, ids)
		if err != nil {
			return nil, nil, s.Explain(err)
		}
		var all []listed
		for _, job := range jobs {
			all = append(all, listedOf(job, due[job.Schedule.ID]))
		}
		return all, nil, nil
	})
}

// Cursor is where it stands in the list.
func (l listed) Cursor() string { return l.Name }

// cells are those of a row of the list.
func (l listed) cells() []string {
	return []string{l.Name, fmt.Sprint(l.Version), words.Clip(strings.Join(l.Crontab, "; "), 40), l.Zone, words.Clip(strings.Join(l.Steps, ", "), 60), l.Pool,
		words.Clip(l.state(), 60), output.Maybe(l.Next), output.Second(l.LastStartedAt)}
}

// listedStep is a shared step in a list, in JSON.
type listedStep struct {
	Name      string    `json:"name"`
	Version   uint64    `json:"version"`
	Exec      string    `json:"exec"`
	Arguments string    `json:"arguments,omitempty"`
	UpdatedAt time.Time `json:"updated_at"`
	Wrong     string    `json:"wrong,omitempty"`
}

func listSteps(cmd *cobra.Command, prog *program.Program) error {
	return prog.Read(cmd, func(s *program.Session) error {
		var all []listedStep
		err := eachStep(cmd.Context(), s, func(step steps.StoredStep) error {
			one := listedStep{step.Name, step.Version, step.JobExec, string(step.Arguments), step.UpdatedAt, ""}
			if step.Wrong != nil {
				one.Wrong = step.Wrong.Error()
			}
			all = append(all, one)
			return nil
		})
		if err != nil {
			return s.Explain(err)
		}
		return output.Rows(cmd.OutOrStdout(), prog.JSON, all, "there are no shared steps", []output.Column{{Title: "step"}, {Title: "version", Right: true}, {Title: "job_exec"},
			{Title: "arguments"}}, func(l listedStep) []string {
			return []string{l.Name, fmt.Sprint(l.Version), l.Exec, words.Clip(cmp.Or(l.Wrong, l.Arguments), 60)}
		})
	})
}
