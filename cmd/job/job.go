package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/job/file"
	"prescient/prescient"
	"prescient/prescient/steps"
)

// Command returns the command job.
func Command(prog *program.Program) *cobra.Command {
	job := &cobra.Command{
		Use:   "job",
		Short: "Create, change and list jobs of several steps",
		Long: `A job takes its steps one after another, whenever one of its crontabs says so: each is a job_exec and its arguments. Steps
may be shared by several jobs. Workers run jobs, as long runs; a change takes effect with the next run that begins.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	job.AddCommand(createCommand(prog), editCommand(prog), showCommand(prog), listCommand(prog), pauseCommand(prog), resumeCommand(prog),
		runCommand(prog), deleteCommand(prog), importCommand(prog), exportCommand(prog))
	return job
}

// did is what was done with a job or a shared step, in JSON.
type did struct {
	Name string `json:"name"`
	Did  string `json:"did"`
}

// wantNames refuses a command line without names, or with one twice.
func wantNames(cmd *cobra.Command, names []string) error {
	if len(names) == 0 {
		return exit.Usage(fmt.Errorf("%s takes the names of jobs", cmd.CommandPath()))
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return exit.Usage(fmt.Errorf("%q is there twice", name))
		}
	}
	return nil
}

// inTx runs do in a transaction, of which nothing is left after an error.
func inTx(ctx context.Context, s *program.Session, do func(tx *sql.Tx) error) error {
	tx, err := s.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		// Where the connection is gone the server rolls back.
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			s.Log.Debug().Err(undo).Msg("rolling back")
		}
		if ctx.Err() != nil { // what else is said follows from that
			return ctx.Err()
		}
		return err
	}
	return tx.Commit()
}

// say says what was done with each, a line or an object each.
func say(prog *program.Program, out io.Writer, list []did) error {
	if prog.JSON {
		return output.Lines(out, list)
	}
	for _, d := range list {
		if err := output.Say(out, "%s: %s", d.Did, d.Name); err != nil {
			return err
		}
	}
	return nil
}

// entryOf is a stored job as it stands in a file.
func entryOf(job steps.Stored) file.Entry {
	one, enabled := job.Job, job.Schedule.Enabled
	return file.Entry{Job: &one, Enabled: &enabled}
}

// warn warns of job_execs that nobody has.
func warn(cmd *cobra.Command, s *program.Session, entries ...file.Entry) error {
	var names program.ExecNames
	add := func(step steps.Step) {
		if step.JobExec != "" {
			names.Add(step.JobExec)
		}
	}
	for _, entry := range entries {
		if entry.Step != nil {
			add(*entry.Step)
			continue
		}
		for _, step := range entry.Job.Steps {
			add(step)
		}
	}
	return s.WarnUnregistered(cmd.Context(), cmd.ErrOrStderr(), "a run that comes to it is tried again, and fails", names...)
}

// eachJob calls do for all jobs, in the order of their names.
func eachJob(ctx context.Context, s *program.Session, db prescient.DB, do func(job steps.Stored) error) error {
	const page = 500
	after := ""
	for {
		jobs, err := s.Jobs.List(ctx, db, after, page)
		if err != nil {
			return err
		}
		for _, one := range jobs {
			if err := do(one); err != nil {
				return err
			}
			after = one.Name
		}
		if len(jobs) < page {
			return nil
		}
	}
}
