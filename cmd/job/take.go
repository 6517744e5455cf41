package job

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/input"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/steps"
)

const (
	// mostNamed is how many bad entries are named.
	mostNamed = 100
	// largestFile is how much is read of a file, all of which is in memory.
	largestFile = 64 << 20
)

// take creates and changes what a file has.
func take(cmd *cobra.Command, prog *program.Program, f importFlags, name string) error {
	entries, schedules, err := readFile(cmd, prog, name)
	if err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		t := taking{importFlags: f, s: s}
		err = s.InTx(cmd.Context(), func(tx *sql.Tx) error {
			t.done = nil
			if err := t.all(cmd.Context(), tx, entries); err != nil {
				return err
			}
			if f.dryRun {
				return errDryRun
			}
			return nil
		})
		if err != nil && !errors.Is(err, errDryRun) {
			return s.Explain(err)
		}
		if err = t.print(cmd.OutOrStdout(), prog.JSON); err != nil {
			return err
		}
		if schedules > 0 {
			err = output.Say(cmd.ErrOrStderr(), "%s: the schedules of the file (%d) are left to schedule import", prog.Name, schedules)
		}
		return errors.Join(err, warn(cmd, s, entries...))
	})
}

// errDryRun has what was done rolled back.
var errDryRun = errors.New("a dry run")

// readFile reads the jobs and shared steps of a file, and counts its schedules. It names what is wrong with the file.
func readFile(cmd *cobra.Command, prog *program.Program, name string) (entries []file.Entry, schedules int, err error) {
	from, err := input.From(cmd.Context(), name, cmd.InOrStdin())
	if err != nil {
		return nil, 0, exit.NotRead(cmd.Name(), err)
	}
	defer from.Close()
	name = input.Called(name)
	limited := &io.LimitedReader{R: from, N: largestFile + 1}
	var bad []*file.Bad
	for entry, wrong := range file.Read(bufio.NewReader(limited), file.YAML, file.Job) {
		var one *file.Bad
		switch {
		case errors.As(wrong, &one):
			bad = append(bad, one)
		case wrong != nil:
			err = wrong
		case entry.Schedule != nil:
			schedules++
		default:
			entries = append(entries, entry)
		}
	}
	if limited.N == 0 {
		return nil, 0, exit.Usage(fmt.Errorf("%s has more than %d MB", name, largestFile>>20))
	}
	p := output.To(cmd.ErrOrStderr())
	for _, one := range bad[:min(len(bad), mostNamed)] {
		p.Text(words.Complaint(prog.Name, fmt.Errorf("%s, line %d: %w", name, one.Line, one)))
	}
	of := "jobs and steps"
	if schedules > 0 || slices.ContainsFunc(bad, func(one *file.Bad) bool { return one.Kind == file.Schedule }) {
		of = "schedules, jobs and steps"
	}
	switch {
	case p.Err() != nil:
		return nil, 0, p.Err()
	case err != nil:
		return nil, 0, exit.Usage(fmt.Errorf("%s: %w", name, err))
	case len(bad) > 0:
		return nil, 0, exit.Usage(fmt.Errorf("%d of the %s of %s are wrong; nothing was done", len(bad), of, name))
	case len(entries) == 0:
		return nil, 0, exit.Usage(fmt.Errorf("there is no job and no step in %s", name))
	}
	return entries, schedules, nil
}

// taking is a file that is being taken, in a transaction.
type taking struct {
	importFlags
	s    *program.Session
	done []change
}

// all takes the entries: shared steps first.
func (t *taking) all(ctx context.Context, tx *sql.Tx, entries []file.Entry) error {
	for _, entry := range entries {
		if entry.Step != nil {
			if err := t.step(ctx, tx, entry); err != nil {
				return refused(entry, err)
			}
		}
	}
	for _, entry := range entries {
		if entry.Job != nil {
			if err := t.job(ctx, tx, entry); err != nil {
				return refused(entry, err)
			}
		}
	}
	return nil
}

// refused names the line of what keeps an entry from being taken.
func refused(entry file.Entry, err error) error {
	bad := entry.Refused(err)
	return fmt.Errorf("line %d: %w", bad.Line, bad.Err)
}

func (t *taking) step(ctx context.Context, tx *sql.Tx, entry file.Entry) error {
	old, err := t.s.Jobs.GetStep(ctx, tx, entry.Step.Name)
	isNew := errors.Is(err, steps.ErrNotFound)
	if err != nil && !isNew && !errors.Is(err, steps.ErrUnreadable) {
		return err
	}
	changed, jobs, err := t.s.Jobs.PutStep(ctx, tx, *entry.Step, 0)
	if err != nil {
		return err
	}
	if isNew || !changed {
		return t.note(entry, isNew, nil, nil)
	}
	stored, err := t.s.Jobs.GetStep(ctx, tx, entry.Step.Name)
	if err != nil {
		return err
	}
	return t.noteChange(file.Entry{Step: &old.Step}, file.Entry{Step: &stored.Step}, jobs)
}

func (t *taking) job(ctx context.Context, tx *sql.Tx, entry file.Entry) error {
	name := entry.Job.Name
	old, err := t.s.Jobs.Get(ctx, tx, name)
	switch {
	case errors.Is(err, steps.ErrNotFound):
		if _, err := t.s.Jobs.Create(ctx, tx, *entry.Job); err != nil {
			return err
		}
		return errors.Join(t.pause(ctx, tx, entry), t.note(entry, true, nil, nil))
	case err != nil && !errors.Is(err, steps.ErrUnreadable):
		return err
	}
	if _, err := t.s.Jobs.Update(ctx, tx, *entry.Job, old.Version); err != nil {
		return err
	}
	if err := t.pause(ctx, tx, entry); err != nil {
		return err
	}
	stored, err := t.s.Jobs.Get(ctx, tx, name)
	if err != nil {
		return err
	}
	return t.noteChange(entryOf(old), entryOf(stored), nil)
}

// pause pauses a job whose entry says so.
func (t *taking) pause(ctx context.Context, db prescient.DB, entry file.Entry) error {
	if entry.Enabled == nil || *entry.Enabled {
		return nil
	}
	_, err := t.s.Jobs.Pause(ctx, db, entry.Job.Name)
	return err
}

// noteChange notes what changed. It is refused unless changes are wanted.
func (t *taking) noteChange(before, after file.Entry, jobs []string) error {
	was, err := before.Text()
	if err != nil {
		return err
	}
	is, err := after.Text()
	if err != nil {
		return err
	}
	return t.note(after, false, file.Lines(was, is), jobs)
}

func (t *taking) note(entry file.Entry, created bool, lines, jobs []string) error {
	c := change{definition.Done{Name: entry.String(), Did: "kept"}, lines, jobs}
	switch {
	case created:
		c.Did = "created"
	case lines != nil && !t.update:
		return &exit.Error{Code: exit.CodePending, Err: fmt.Errorf("the database has %s already, with another definition. Nothing of the file was taken; job import --update changes it, for every job that uses it", entry)}
	case lines != nil:
		c.Did = "changed"
	}
	t.done = append(t.done, c)
	return nil
}

func (t *taking) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return output.Lines(out, t.done)
	}
	p := output.To(out)
	counts := make(map[string]int)
	for _, c := range t.done {
		counts[c.Did]++
		sign := map[string]string{"created": "+", "changed": "~"}[c.Did]
		if sign == "" {
			continue
		}
		p.Say("%s %s", sign, c.Name)
		sayLines(p, "    ", slices.Values(c.Lines))
		for _, job := range c.Jobs {
			p.Say("  of job %s, too", job)
		}
	}
	done := ""
	if t.dryRun {
		done = " (a dry run: nothing was done)"
	}
	p.Say("%d created, %d changed, %d kept%s", counts["created"], counts["changed"], counts["kept"], done)
	return p.Err()
}
