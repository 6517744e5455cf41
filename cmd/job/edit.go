package job

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/taking"
	"prescient/prescient/steps"
)

// editFlags are the flags of edit.
type editFlags struct {
	file      string
	step, yes bool
}

func editCommand(prog *program.Program) *cobra.Command {
	var f editFlags
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change a job, or a shared step",
		Long: `Opens the definition of a job in $VISUAL or $EDITOR, or with --file takes another one from a file (- for stdin). Then it shows the
difference, and asks whether it is to be made; --yes makes it without asking. With --step it is a shared step: each job that has it gets
a new version.

It is refused, with exit code 6, where somebody else has changed it meanwhile. Runs that have begun keep their version.`,
		Example: fmt.Sprintf(`  %[1]s job edit nightly
  %[1]s job export nightly | sed 's/0 3/0 4/' | %[1]s job edit nightly --file - --yes
  %[1]s job edit --step export`, prog.Name),
		Args: oneJob,
		RunE: func(cmd *cobra.Command, args []string) error { return edit(cmd, prog, f, args[0]) },
	}
	cmd.Flags().StringVar(&f.file, "file", "", "take the definition from this file: - for stdin")
	cmd.Flags().BoolVar(&f.step, "step", false, "the name is that of a shared step")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return cmd
}

// editing is an edit under way.
type editing struct {
	editFlags
	cmd     *cobra.Command
	prog    *program.Program
	s       *program.Session
	before  file.Entry
	version uint64
}

func edit(cmd *cobra.Command, prog *program.Program, f editFlags, name string) error {
	if f.file == "-" && !f.yes {
		return exit.Usage(errors.New("--file -: give --yes, too, since stdin cannot answer"))
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		e := &editing{editFlags: f, cmd: cmd, prog: prog, s: s}
		if err := e.look(cmd.Context(), name); err != nil {
			return s.Explain(err)
		}
		was, err := e.before.Text()
		if err != nil {
			return err
		}
		after, err := e.read(was)
		if err != nil {
			return err
		}
		return s.Explain(e.change(was, after))
	})
}

// look reads what is to be edited.
func (e *editing) look(ctx context.Context, name string) error {
	if e.step {
		step, err := e.s.Jobs.GetStep(ctx, e.s.DB, name)
		e.before, e.version = file.Entry{Step: &step.Step}, step.Version
		return err
	}
	job, err := e.s.Jobs.Get(ctx, e.s.DB, name)
	e.before, e.version = entryOf(job), job.Version
	e.before.Enabled = nil // pause and resume say that
	return err
}

// read reads the definition that is to take the place of the other.
func (e *editing) read(was string) (file.Entry, error) {
	name := e.file
	if name == "" {
		edited, err := e.inEditor(was)
		if edited != "" {
			defer os.Remove(edited)
		}
		if err != nil {
			return file.Entry{}, err
		}
		name = edited
	}
	entries, _, err := readFile(e.cmd, e.prog, name)
	if err != nil {
		return file.Entry{}, err
	}
	for _, entry := range entries {
		if entry.String() == e.before.String() {
			return entry, nil
		}
	}
	return file.Entry{}, exit.Usage(fmt.Errorf("%s is not in the file: its name cannot be changed", e.before))
}

// inEditor has a person change a text, and returns the name of the file that it is in.
func (e *editing) inEditor(text string) (name string, err error) {
	editor := ""
	for _, variable := range []string{"VISUAL", "EDITOR"} {
		if value, _ := e.prog.Env(variable); editor == "" {
			editor = value
		}
	}
	if strings.TrimSpace(editor) == "" {
		return "", exit.Usage(errors.New("neither VISUAL nor EDITOR is set: set one of them, or give --file"))
	}
	to, err := os.CreateTemp("", "job-*.yaml")
	if err != nil {
		return "", err
	}
	if _, err := to.WriteString(text); err != nil {
		return to.Name(), errors.Join(err, to.Close())
	}
	if err := to.Close(); err != nil {
		return to.Name(), err
	}
	// A person may have an editor with arguments, as in "code --wait": a shell reads it.
	run := exec.CommandContext(e.cmd.Context(), "sh", "-c", editor+` "$1"`, "editor", to.Name())
	run.Stdout, run.Stderr = e.cmd.OutOrStdout(), e.cmd.ErrOrStderr()
	if terminal, is := e.cmd.InOrStdin().(*os.File); is { // of any other it would read what answers the question
		run.Stdin = terminal
	}
	if err := run.Run(); err != nil {
		return to.Name(), fmt.Errorf("the editor %s: %w; nothing was done", editor, err)
	}
	return to.Name(), nil
}

// change shows the difference, asks, and makes it.
func (e *editing) change(was string, after file.Entry) error {
	if after.Enabled != nil {
		return exit.Usage(errors.New("enabled cannot be edited: pause and resume say that"))
	}
	if job := after.Job; job != nil {
		if err := e.s.Jobs.Check(e.cmd.Context(), e.s.DB, *job); err != nil {
			return err
		}
	}
	is, err := after.Normal().Text()
	if err != nil {
		return err
	}
	lines := file.Lines(was, is)
	if lines == nil {
		return e.say("kept", nil, nil)
	}
	if !e.yes {
		if err := e.show(lines); err != nil {
			return err
		}
		if is, err := e.asks(); err != nil || !is {
			return errors.Join(err, output.Say(e.cmd.ErrOrStderr(), "nothing was done"))
		}
	}
	var jobs []string
	if e.step {
		_, jobs, err = e.s.Jobs.PutStep(e.cmd.Context(), e.s.DB, *after.Step, e.version)
	} else {
		_, err = e.s.Jobs.Update(e.cmd.Context(), e.s.DB, *after.Job, e.version)
	}
	if errors.Is(err, steps.ErrStale) {
		return fmt.Errorf("%w; nothing was done", err)
	}
	if err != nil {
		return err
	}
	if e.yes && !e.prog.JSON {
		if err := e.show(lines); err != nil {
			return err
		}
	}
	return errors.Join(e.say("changed", lines, jobs), warn(e.cmd, e.s, after))
}

func (e *editing) show(lines []string) error {
	p := output.To(e.cmd.OutOrStdout())
	taking.SayLines(p, "", slices.Values(lines))
	return p.Err()
}

// asks asks a person whether the change is to be made.
func (e *editing) asks() (bool, error) {
	if _, err := io.WriteString(e.cmd.ErrOrStderr(), "make this change? [y/N] "); err != nil {
		return false, err
	}
	line, err := bufio.NewReader(e.cmd.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

func (e *editing) say(done string, lines, jobs []string) error {
	text := done + ": " + e.before.String()
	if done == "kept" {
		text += " is so already"
	}
	if len(jobs) > 0 {
		text += "; of job " + strings.Join(jobs, ", ") + ", too"
	}
	return output.Answer(e.cmd.OutOrStdout(), e.prog.JSON, taking.Change{Done: definition.Done{Name: e.before.String(), Did: done}, Lines: lines, Jobs: jobs}, "%s", text)
}
