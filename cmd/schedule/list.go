package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/schedule"
	"prescient/prescient/schedule/timeline"
)

// listed is a schedule, as list --json and show --json print it.
type listed struct {
	file.Record
	Enabled        bool       `json:"enabled"`
	Unreadable     string     `json:"unreadable,omitempty"` // why it does not fire though it is enabled
	Version        uint64     `json:"version"`
	Next           *time.Time `json:"next,omitempty"`
	DisabledAt     *time.Time `json:"disabled_at,omitempty"`
	DisabledReason string     `json:"disabled_reason,omitempty"`
	PassedOver     int64      `json:"passed_over,omitempty"`
	CreatedAt      time.Time  `json:"created_at"`
	UpdatedAt      time.Time  `json:"updated_at"`
	LastStartedAt  *time.Time `json:"last_started_at,omitempty"` // of a long run
}

// listedOf is a schedule with what its timer waits for; zero where it has none, or is not seen.
func listedOf(one schedule.Stored, due time.Time) listed {
	unreadable := ""
	if one.Enabled {
		unreadable = timeline.Unreadable(one.Crontabs, one.Zone)
	}
	return listed{Record: file.Of(one.Schedule, one.Enabled), Unreadable: unreadable, Enabled: one.Enabled, Version: one.Version, Next: definition.Time(due),
		DisabledAt: definition.Time(one.DisabledAt), DisabledReason: one.DisabledReason, PassedOver: one.PassedOver, CreatedAt: one.CreatedAt,
		UpdatedAt: one.UpdatedAt, LastStartedAt: definition.Time(one.LastStartedAt)}
}

// state is what a schedule does, for people.
func (l listed) state() string {
	switch {
	case l.Unreadable != "":
		return "cannot fire: " + l.Unreadable
	case l.Enabled:
		return ""
	case l.DisabledAt != nil:
		return "disabled: " + l.DisabledReason
	case l.DisabledReason != "":
		return "over: " + l.DisabledReason
	}
	return "paused"
}

// target is what a schedule fires, for people.
func (l listed) target() string {
	switch {
	case l.Long:
		return "runs " + l.Exec + ", long"
	case l.Exec != "":
		return "runs " + l.Exec
	}
	return "sends to " + l.Topic
}

// listFlags are the flags of list.
type listFlags struct {
	owner    prescient.Entity
	after    string
	troubled bool
	limit    int
}

// defaultLimit is how many schedules a page has unless told otherwise.
const defaultLimit = 100

func listCommand(prog *program.Program) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List schedules with when they fire next",
		Long: `Lists schedules in the order of their ids, a page at a time, with what their timers wait for; of those that were
disabled since they are no good, with the reason. Payloads are shown by show and export.`,
		Example: fmt.Sprintf(`  %[1]s schedule list --owner customer/42
  %[1]s schedule list --troubled`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return list(cmd, prog, f) },
	}
	addOwner(cmd.Flags(), &f.owner, "only those of this owner: name/key, as in customer/42")
	cmd.Flags().BoolVar(&f.troubled, "troubled", false, "only those that were disabled since they are no good")
	cmd.Flags().StringVar(&f.after, "after", "", "go on behind the schedule with this id, the last of the page before")
	arguments.Number(cmd.Flags(), &f.limit, "limit", defaultLimit, 1, schedule.MaxPage-1, fmt.Sprintf("schedules on a page, %d at most", schedule.MaxPage-1))
	return cmd
}

func list(cmd *cobra.Command, prog *program.Program, f listFlags) error {
	if err := arguments.NotEmpty(cmd, "owner"); err != nil {
		return err
	}
	page := output.Page[listed]{Limit: f.limit, Line: func(l listed) any { return l }, None: f.none(), Columns: columns, Cells: listed.cells}
	return program.List(cmd, prog, page, func(s *program.Session) ([]listed, *output.Early, error) {
		found, err := s.Schedules.List(cmd.Context(), s.DB, schedule.Filter{Owner: f.owner, Troubled: f.troubled, After: f.after, Limit: f.limit + 1})
		if err != nil {
			return nil, nil, s.Explain(err)
		}
		ids := make([]string, len(found))
		for i, one := range found {
			ids[i] = one.ID
		}
		due, err := definition.Timers(cmd, s, ids)
		if err != nil {
			return nil, nil, s.Explain(err)
		}
		rows := make([]listed, len(found))
		for i, one := range found {
			rows[i] = listedOf(one, due[one.ID])
		}
		return rows, nil, nil
	})
}

// Cursor is that with which --after goes on behind it.
func (l listed) Cursor() string { return l.ID }

// none says why there are no rows.
func (f listFlags) none() string {
	switch {
	case f.owner != (prescient.Entity{}) || f.troubled:
		return "no schedule matches the filter"
	case f.after != "":
		return "no schedule comes behind this id"
	}
	return "there are no schedules"
}

var columns = []output.Column{{Title: "id"}, {Title: "crontab"}, {Title: "zone"}, {Title: "fires"}, {Title: "owner"}, {Title: "next (UTC)"}, {Title: "state"}}

// cells are those of a row of columns.
func (l listed) cells() []string {
	return []string{words.Clip(l.ID, 60), words.Clip(strings.Join(l.Crontab, ", "), 60), words.Clean(l.Zone), words.Clip(l.target(), 60),
		words.Clip(l.Owner, 60), output.Maybe(l.Next), words.Clip(l.state(), 100)}
}
