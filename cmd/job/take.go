package job

import (
	"context"
	"database/sql"
	"errors"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/taking"
	"prescient/prescient"
	"prescient/prescient/steps"
)

// take creates and changes what a file has.
func take(cmd *cobra.Command, prog *program.Program, f importFlags, name string) error {
	entries, counts, err := readFile(cmd, prog, name)
	if err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		t := fileTaking{taking.Taking{Session: s, Update: f.update, DryRun: f.dryRun, Hint: "job import --update changes it, for every job that uses it"}}
		if err := t.Take(cmd.Context(), func(tx *sql.Tx) error { return t.all(cmd.Context(), tx, entries) }); err != nil {
			return s.Explain(err)
		}
		if err = t.Print(cmd.OutOrStdout(), prog.JSON); err != nil {
			return err
		}
		for _, line := range counts.Left(file.Job, file.Step) {
			err = errors.Join(err, output.Say(cmd.ErrOrStderr(), "%s: %s", prog.Name, line))
		}
		return errors.Join(err, warn(cmd, s, entries...))
	})
}

// readFile reads the jobs and shared steps of a file, and counts all that it has.
func readFile(cmd *cobra.Command, prog *program.Program, name string) (entries []file.Entry, counts file.Counts, err error) {
	return taking.Read(cmd, prog, name, "no job and no step", file.Job, file.Step)
}

// fileTaking takes jobs and shared steps.
type fileTaking struct{ taking.Taking }

// all takes the entries: shared steps first.
func (t *fileTaking) all(ctx context.Context, tx *sql.Tx, entries []file.Entry) error {
	for _, entry := range entries {
		if entry.Step != nil {
			if err := t.step(ctx, tx, entry); err != nil {
				return taking.Refused(entry, err)
			}
		}
	}
	for _, entry := range entries {
		if entry.Job != nil {
			if err := t.job(ctx, tx, entry); err != nil {
				return taking.Refused(entry, err)
			}
		}
	}
	return nil
}

func (t *fileTaking) step(ctx context.Context, tx *sql.Tx, entry file.Entry) error {
	old, err := t.Jobs.GetStep(ctx, tx, entry.Step.Name)
	isNew := errors.Is(err, steps.ErrNotFound)
	if err != nil && !isNew && !errors.Is(err, steps.ErrUnreadable) {
		return err
	}
	changed, jobs, err := t.Jobs.PutStep(ctx, tx, *entry.Step, 0)
	if err != nil {
		return err
	}
	if isNew || !changed {
		return t.Note(entry, isNew, nil, nil)
	}
	stored, err := t.Jobs.GetStep(ctx, tx, entry.Step.Name)
	if err != nil {
		return err
	}
	return t.NoteChange(file.Entry{Step: &old.Step}, file.Entry{Step: &stored.Step}, jobs)
}

func (t *fileTaking) job(ctx context.Context, tx *sql.Tx, entry file.Entry) error {
	name := entry.Job.Name
	old, err := t.Jobs.Get(ctx, tx, name)
	switch {
	case errors.Is(err, steps.ErrNotFound):
		if _, err := t.Jobs.Create(ctx, tx, *entry.Job); err != nil {
			return err
		}
		return errors.Join(t.pause(ctx, tx, entry), t.Note(entry, true, nil, nil))
	case err != nil && !errors.Is(err, steps.ErrUnreadable):
		return err
	}
	if _, err := t.Jobs.Update(ctx, tx, *entry.Job, old.Version); err != nil {
		return err
	}
	if err := t.pause(ctx, tx, entry); err != nil {
		return err
	}
	stored, err := t.Jobs.Get(ctx, tx, name)
	if err != nil {
		return err
	}
	return t.NoteChange(entryOf(old), entryOf(stored), nil)
}

// pause pauses a job whose entry says so.
func (t *fileTaking) pause(ctx context.Context, db prescient.DB, entry file.Entry) error {
	if entry.Enabled == nil || *entry.Enabled {
		return nil
	}
	_, err := t.Jobs.Pause(ctx, db, entry.Job.Name)
	return err
}
