package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/steps"
)

// versionShown is what versions --json prints of each. "show --version" has all of one.
type versionShown struct {
	Version   uint64    `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	Crontab   []string  `json:"crontab"`
	Zone      string    `json:"zone"`
	Steps     []string  `json:"steps"`
	Wrong     string    `json:"wrong,omitempty"`
}

func versionsCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:     "versions NAME",
		Short:   "List what a job was before it was changed",
		Long:    fmt.Sprintf(`Lists the versions of a job, the latest %d, also of one that was deleted. "back" makes one of them the definition again.`, mostVersions),
		Example: fmt.Sprintf(`  %s job versions nightly`, prog.Name),
		Args:    arguments.One("the name of one job"),
		RunE:    func(cmd *cobra.Command, args []string) error { return versions(cmd, prog, args[0]) },
	}
}

func versions(cmd *cobra.Command, prog *program.Program, name string) error {
	return prog.Read(cmd, func(s *program.Session) error {
		found, err := s.Jobs.Versions(cmd.Context(), s.DB, name, mostVersions)
		if err == nil && len(found) == 0 {
			_, err = s.Jobs.Get(cmd.Context(), s.DB, name)
		}
		if err != nil {
			return s.Explain(err)
		}
		all := make([]versionShown, len(found))
		for i, v := range found {
			all[i] = versionOf(v)
		}
		return output.Rows(cmd.OutOrStdout(), prog.JSON, all, "there are none", []output.Column{{Title: "version", Right: true}, {Title: "created (UTC)"}, {Title: "crontab"}, {Title: "zone"},
			{Title: "steps"}}, versionShown.cells)
	})
}

func versionOf(v steps.Version) versionShown {
	is := versionShown{Version: v.Version, CreatedAt: v.CreatedAt, Crontab: v.Crontabs, Zone: v.Zone}
	for _, step := range v.Steps {
		is.Steps = append(is.Steps, step.Name)
	}
	if v.Wrong != nil {
		is.Wrong = v.Wrong.Error()
	}
	return is
}

func (v versionShown) cells() []string {
	all := strings.Join(v.Steps, ", ")
	if v.Wrong != "" {
		all = v.Wrong
	}
	return []string{strconv.FormatUint(v.Version, 10), output.Second(&v.CreatedAt), words.Clip(strings.Join(v.Crontab, "; "), 40), words.Clean(v.Zone), words.Clip(all, 60)}
}
