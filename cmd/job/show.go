package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/taking"
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
			if f.step && f.version != 0 {
				return exit.Usage(errors.New("--version is for jobs: of shared steps only the current one is kept"))
			}
			return prog.Read(cmd, func(s *program.Session) error {
				one, err := f.look(cmd.Context(), s, args[0])
				switch {
				case err != nil:
					return s.Explain(err)
				case prog.JSON:
					return output.JSON(cmd.OutOrStdout(), one)
				}
				return one.print(cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().Uint64Var(&f.version, "version", 0, "show this version")
	arguments.Number(cmd.Flags(), &f.count, "n", 5, 0, mostTimes, fmt.Sprintf("how many of the next times: 0 to %d", mostTimes))
	cmd.Flags().BoolVar(&f.step, "step", false, "the name is that of a shared step")
	return cmd
}

// look reads what is to be shown.
func (f showFlags) look(ctx context.Context, s *program.Session, name string) (interface{ print(out io.Writer) error }, error) {
	switch {
	case f.step:
		return lookAtStep(ctx, s, name)
	case f.version != 0:
		return lookAtVersion(ctx, s, name, f.version)
	}
	return lookAtJob(ctx, s, name, f.count)
}

func lookAtJob(ctx context.Context, s *program.Session, name string, count int) (one shown, err error) {
	job, err := s.Jobs.Get(ctx, s.DB, name)
	if err != nil {
		return one, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return one, err
	}
	versions, err := s.Jobs.Versions(ctx, s.DB, name, mostVersions)
	if err != nil {
		return one, err
	}
	due, err := s.Schedules.Timers(ctx, s.DB, job.Schedule.ID)
	if err != nil {
		return one, err
	}
	one.listed = listedOf(job, due[job.Schedule.ID])
	for _, v := range versions {
		one.Versions = append(one.Versions, v.Version)
	}
	for _, at := range definition.Next(job.Schedule, due, now, count) { // crontabs were good when they were stored
		one.Times = append(one.Times, output.Stamp(at))
	}
	one.Definition, err = file.Entry{Job: &job.Job}.Text()
	return one, err
}

func (o shown) print(out io.Writer) error {
	p := output.To(out)
	taking.SayLines(p, "", strings.Lines(o.Definition))
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
	p.Fields(11, lines)
	return p.Err()
}

// shownVersion is what show --version --json prints.
type shownVersion struct {
	Name       string `json:"name"`
	Version    uint64 `json:"version"`
	CreatedAt  string `json:"created_at"`
	Definition string `json:"definition"`
}

func lookAtVersion(ctx context.Context, s *program.Session, name string, number uint64) (one shownVersion, err error) {
	version, err := s.Jobs.GetVersion(ctx, s.DB, name, number)
	if err != nil {
		return one, err
	}
	one = shownVersion{Name: name, Version: number, CreatedAt: output.Stamp(version.CreatedAt)}
	one.Definition, err = file.Entry{Job: &version.Job}.Text()
	return one, err
}

func (o shownVersion) print(out io.Writer) error {
	p := output.To(out)
	taking.SayLines(p, "", strings.Lines(o.Definition))
	return p.Err()
}

// shownStep is what show --step --json prints.
type shownStep struct {
	Name       string   `json:"name"`
	Version    uint64   `json:"version"`
	Definition string   `json:"definition"`
	Jobs       []string `json:"jobs"`
}

func lookAtStep(ctx context.Context, s *program.Session, name string) (one shownStep, err error) {
	step, err := s.Jobs.GetStep(ctx, s.DB, name)
	if err != nil {
		return one, err
	}
	one = shownStep{Name: name, Version: step.Version, Jobs: step.Jobs}
	one.Definition, err = file.Entry{Step: &step.Step}.Text()
	return one, err
}

func (o shownStep) print(out io.Writer) error {
	p := output.To(out)
	taking.SayLines(p, "", strings.Lines(o.Definition))
	p.Say("version %d, of jobs: %s", o.Version, cmp.Or(strings.Join(o.Jobs, ", "), "none"))
	return p.Err()
}
