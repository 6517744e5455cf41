package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/times"
	"prescient/cmd/internal/words"
	"prescient/prescient/schedule"
)

// versionShown is what versions --json prints of each. It has no payload.
type versionShown struct {
	file.Record
	Version      uint64     `json:"version"`
	CreatedAt    time.Time  `json:"created_at"`
	EndedAt      *time.Time `json:"ended_at"` // null for the definition that it has
	PayloadBytes int        `json:"payload_bytes,omitempty"`
}

func versionsCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "versions ID",
		Short: "List what a schedule was before it was changed",
		Long: fmt.Sprintf(`Lists the versions of a schedule, the latest first: what it is, and the last %d that it was, also of one that was deleted, until
prune forgets it. "back" makes one of them the definition again. A schedule that was deleted, and created again, counts from 1 again.`, schedule.MaxVersions),
		Example: fmt.Sprintf(`  %s schedule versions digest/42`, prog.Name),
		Args:    arguments.One("the id of one schedule"),
		RunE:    func(cmd *cobra.Command, args []string) error { return versions(cmd, prog, args[0]) },
	}
}

func versions(cmd *cobra.Command, prog *program.Program, id string) error {
	return prog.Read(cmd, func(s *program.Session) error {
		kept, err := s.Schedules.Versions(cmd.Context(), s.DB, id, false)
		if err != nil {
			return s.Explain(err)
		}
		is, err := s.Schedules.Get(cmd.Context(), s.DB, id)
		if err != nil && (len(kept) == 0 || !errors.Is(err, schedule.ErrNotFound)) {
			return s.Explain(err)
		}
		var all []versionShown
		if err == nil {
			kept = append([]schedule.Version{{Schedule: is.Schedule, Version: is.Version, CreatedAt: is.CreatedAt, Bytes: len(is.Payload)}}, kept...)
		}
		for _, v := range kept {
			v.Payload = nil
			all = append(all, versionShown{file.Of(v.Schedule, true), v.Version, v.CreatedAt, definition.Time(v.EndedAt), v.Bytes})
		}
		return output.Rows(cmd.OutOrStdout(), prog.JSON, all, "there are none", []output.Column{{Title: "version", Right: true}, {Title: "until (UTC)"}, {Title: "created (UTC)"}, {Title: "crontab"},
			{Title: "zone"}, {Title: "fires"}}, versionShown.row)
	})
}

func (v versionShown) row() []string {
	until, fires := "now", "runs "+v.Exec
	if v.EndedAt != nil {
		until = output.Stamp(v.EndedAt.Truncate(time.Second))
	}
	if v.Topic != "" {
		fires = "sends to " + v.Topic
	}
	return []string{strconv.FormatUint(v.Version, 10), until, output.Stamp(v.CreatedAt), words.Clip(strings.Join(v.Crontab, "; "), 40), words.Clean(v.Zone), words.Clip(fires, 60)}
}

func backCommand(prog *program.Program) *cobra.Command {
	var of string
	cmd := &cobra.Command{
		Use:   "back ID VERSION",
		Short: "Make what a schedule was its definition again",
		Long: `Makes a version of a schedule its definition again, payload included, as update would: by a change that has a version of
its own. What waits goes on under it, and a schedule that is paused stays so. One that was deleted is created again.
"versions" lists them; where one of the id was deleted, and another is there, --of says by its time of creation which is meant.`,
		Example: fmt.Sprintf(`  %s schedule back digest/42 3`, prog.Name),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return exit.Usage(errors.New("schedule back takes the id of a schedule, and one of its versions"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return back(cmd, prog, args[0], args[1], of) },
	}
	arguments.Time(cmd.Flags(), &of, "of", "when the schedule was created, as versions has it: 2026-03-01 13:00:00.123456 (UTC)")
	return cmd
}

func back(cmd *cobra.Command, prog *program.Program, id, number, of string) error {
	version, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return exit.Usage(fmt.Errorf("version %.40q: a number is wanted", number))
	}
	which := schedule.Which{Version: version}
	return prog.Connect(cmd, func(s *program.Session) error {
		if of != "" {
			now, err := s.Now(cmd.Context())
			if err == nil {
				which.CreatedAt, err = times.Parse(of, now)
			}
			if err != nil {
				return exit.Usage(fmt.Errorf("--of: %w", err))
			}
		}
		changed, err := s.Schedules.GoBack(cmd.Context(), s.DB, id, which, 0)
		if err != nil {
			return s.Explain(err)
		}
		return kind(prog).WentBack(cmd, id, version, changed)
	})
}
