package job

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
)

// showFlags are the flags of show.
type showFlags struct {
	version uint64
	count   int
	step    bool
}

// shown is what show --json prints.
type shown struct {
	listed
	// Definition is that of a file.
	Definition string   `json:"definition"`
	Times      []string `json:"times"`
	Versions   []uint64 `json:"versions"`
}

// What show shows at most of versions, and of next times.
const (
	mostVersions = 20
	mostTimes    = 1000
)

func showCommand(prog *program.Program) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a job, or a shared step",
		Long: `Shows a job: its definition as it stands in a file, its state, versions and next times. --version shows the definition of an earlier
version, whole, with its shared steps as they were then; also of a job that was deleted. With --step it shows a shared step, and which
jobs have it. If there is none, the exit code is 3.`,
		Example: fmt.Sprintf(`  %[1]s job show nightly
  %[1]s job show nightly --version 3`, prog.Name),
		Args: oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.count < 0 || f.count > mostTimes:
				return exit.Usage(fmt.Errorf("-n %d: 0 to %d are allowed", f.count, mostTimes))
			case f.step && f.version != 0:
				return exit.Usage(errors.New("--version is for jobs: of shared steps only the current one is kept"))
			}
			s, err := prog.Read(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			switch {
			case f.step:
				err = showStep(cmd, prog, s, args[0])
			case f.version != 0:
				err = showVersion(cmd, prog, s, args[0], f.version)
			default:
				err = showJob(cmd, prog, s, args[0], f.count)
			}
			return s.Explain(err)
		},
	}
	cmd.Flags().Uint64Var(&f.version, "version", 0, "show this version")
	cmd.Flags().IntVarP(&f.count, "count", "n", 5, fmt.Sprintf("how many of the next times: 0 to %d", mostTimes))
	cmd.Flags().BoolVar(&f.step, "step", false, "the name is that of a shared step")
	return cmd
}

func showJob(cmd *cobra.Command, prog *program.Program, s *program.Session, name string, count int) error {
	job, err := s.Jobs.Get(cmd.Context(), s.DB, name)
	if err != nil {
		return err
	}
	now, err := s.Now(cmd.Context())
	if err != nil {
		return err
	}
	versions, err := s.Jobs.Versions(cmd.Context(), s.DB, name, mostVersions)
	if err != nil {
		return err
	}
	entry := entryOf(job)
	entry.Enabled = nil
	due, err := s.Schedules.Timers(cmd.Context(), s.DB, job.Schedule.ID)
	if err != nil {
		return err
	}
	one := shown{listed: listedOf(job, due[job.Schedule.ID])}
	if one.Definition, err = entry.Text(); err != nil {
		return err
	}
	for _, v := range versions {
		one.Versions = append(one.Versions, v.Version)
	}
	for _, at := range definition.Next(job.Schedule, due, now, count) { // crontabs were good when they were stored
		one.Times = append(one.Times, output.Stamp(at))
	}
	if prog.JSON {
		return output.JSON(cmd.OutOrStdout(), one)
	}
	return one.print(cmd.OutOrStdout())
}

func (o shown) print(out io.Writer) error {
	if err := printText(out, o.Definition); err != nil {
		return err
	}
	last := ""
	for i, v := range o.Versions {
		if i > 0 {
			last += fmt.Sprintf("%s%d", map[bool]string{true: ", ", false: "; before it "}[i > 1], v)
		}
	}
	lines := [][2]string{{"state", o.state()}, {"version", fmt.Sprint(o.Version) + last}, {"updated_at", output.Second(&o.UpdatedAt)}, {"last start", output.Second(o.LastStartedAt)}}
	for _, at := range o.Times {
		lines = append(lines, [2]string{"next", at})
	}
	return output.Fields(out, 11, lines)
}

// printText prints a text of several lines, of which none drives a terminal.
func printText(out io.Writer, text string) error {
	for line := range strings.Lines(text) {
		if err := output.Say(out, "%s", words.Clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}

func showVersion(cmd *cobra.Command, prog *program.Program, s *program.Session, name string, number uint64) error {
	version, err := s.Jobs.GetVersion(cmd.Context(), s.DB, name, number)
	if err != nil {
		return err
	}
	text, err := file.Entry{Job: &version.Job}.Text()
	if err != nil {
		return err
	}
	if prog.JSON {
		return output.JSON(cmd.OutOrStdout(), struct {
			Name       string `json:"name"`
			Version    uint64 `json:"version"`
			CreatedAt  string `json:"created_at"`
			Definition string `json:"definition"`
		}{name, number, output.Stamp(version.CreatedAt), text})
	}
	return printText(cmd.OutOrStdout(), text)
}

func showStep(cmd *cobra.Command, prog *program.Program, s *program.Session, name string) error {
	step, err := s.Jobs.GetStep(cmd.Context(), s.DB, name)
	if err != nil {
		return err
	}
	text, err := file.Entry{Step: &step.Step}.Text()
	if err != nil {
		return err
	}
	if prog.JSON {
		return output.JSON(cmd.OutOrStdout(), struct {
			Name       string   `json:"name"`
			Version    uint64   `json:"version"`
			Definition string   `json:"definition"`
			Jobs       []string `json:"jobs"`
		}{name, step.Version, text, step.Jobs})
	}
	if err := printText(cmd.OutOrStdout(), text); err != nil {
		return err
	}
	return output.Say(cmd.OutOrStdout(), "version %d, of jobs: %s", step.Version, strings.Join(orNone(step.Jobs), ", "))
}

func orNone(names []string) []string {
	if len(names) == 0 {
		return []string{"none"}
	}
	return names
}
