package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/config/value"
	files "prescient/jobs/spool"
	"prescient/prescient"
	"prescient/slots"
)

// flags are the flags of spool.
type flags struct {
	work                      bool
	grid                      slots.Grid
	timeout, keep             time.Duration
	concurrency, retries, max int
}

// Command returns the command spool.
func Command(prog *program.Program) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "spool DIR",
		Short: "Execute files in the folders of slots, without a database",
		Long: `Executes what is due in a folder: DIR/yyyymmddhhmm is a slot, in UTC, and each file in it is a program that is executed once
when the slot has come (yymmddhhmm is read, too). 'spool put' writes one; so may whoever has the right to: DIR is its user's alone,
since a file there runs as that user. Slots that nobody served are caught up, the oldest first. It is for cron, or with --work for itself.

A file answers by its exit code, as commands do: 0 is the end, 75 has it executed again when the last line of its output says, and anything else is
an error, after which it is not executed again without --retries. What has ended lies in DIR/done, with its output and
how it ended. Two processes never execute what is due at once: the second one says so, and has nothing to do. A process that dies leaves
what it executed to the next, which executes it again. What cannot be executed, as a slot of a 30 February, stays, and the exit code is 1.

This is enough for one machine, and for what may be lost with its disk. Insert checks for what is to be in one transaction with an order, cancelled by
a key, run by several machines, or looked at with SQL.`,
		Example: fmt.Sprintf(`  %[1]s spool put /var/spool/shop --in 3h -- ./remind order 42
  * * * * * %[1]s spool /var/spool/shop`, prog.Name),
		Args: oneDir,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd, prog, f, args[0]) },
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.work, "work", false, "go on, slot after slot, until SIGTERM or SIGINT")
	gridFlag(cmd, &f.grid)
	arguments.Within(fs, &f.timeout, "timeout", files.DefaultTimeout.String(), time.Second, prescient.MaxHorizon, "how long a file may run")
	arguments.Within(fs, &f.keep, "keep", "30d", time.Hour, math.MaxInt64, "how long done has what has ended")
	arguments.Number(fs, &f.concurrency, "concurrency", files.DefaultConcurrency, 1, 1000, "how many files are executed at a time")
	arguments.Number(fs, &f.retries, "retries", 0, 0, 1000, "after how many errors in a row a file is executed again, 1, 2, 4, … slots later")
	arguments.Number(fs, &f.max, "max-checks", prescient.DefaultGuards().MaxChecks, 0, 1_000_000, "how often a file may ask to be executed again")
	cmd.AddCommand(putCommand(prog))
	return cmd
}

// oneDir wants the folder of a spool.
func oneDir(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return exit.Usage(fmt.Errorf("%s takes one folder, but was given %d", cmd.CommandPath(), len(args)))
	}
	return nil
}

// gridFlag adds the flag for the slots.
func gridFlag(cmd *cobra.Command, into *slots.Grid) {
	arguments.Parsed(cmd.Flags(), into, "resolution", "1m", func(text string) (slots.Grid, error) {
		d, err := value.ParseDuration(text)
		if err == nil && d%time.Minute != 0 {
			err = fmt.Errorf("%s: whole minutes are allowed", value.Quote(text))
		}
		if err != nil {
			return slots.Grid{}, err
		}
		return slots.NewGrid(d)
	}, "the distance between two slots, in whole minutes; divides a day")
}

func run(cmd *cobra.Command, prog *program.Program, f flags, dir string) error {
	c, err := prog.Load(cmd)
	if err != nil {
		return err
	}
	o := files.Options{Dir: dir, Grid: f.grid, Concurrency: f.concurrency, Keep: f.keep, Log: prog.Logger(c.Log),
		Guards: prescient.Guards{Timeout: f.timeout, MaxErrors: cmp.Or(f.retries, prescient.None), MaxChecks: cmp.Or(f.max, prescient.None)}}
	var unprinted error
	o.Tell = func(r files.Ran) {
		unprinted = cmp.Or(unprinted, sayRan(cmd, prog, r))
	}
	said := ""
	for {
		err := files.Run(cmd.Context(), o)
		switch {
		case errors.Is(err, files.ErrBusy):
			err = output.Say(cmd.ErrOrStderr(), "another process executes what is due in %s", dir)
		case f.work && errors.Is(err, files.ErrLeft): // which keeps nothing else from being executed
			text := words.Complaint(prog.Name, err)
			if err = nil; text != said {
				_, err = io.WriteString(cmd.ErrOrStderr(), text)
			}
			said = text
		default:
			said = ""
		}
		if err = explain(err); err != nil || unprinted != nil || !f.work {
			return cmp.Or(err, unprinted)
		}
		if !untilSlot(cmd.Context(), f.grid) {
			return nil
		}
	}
}

// untilSlot waits for the next slot, and says false where ctx ends before.
func untilSlot(ctx context.Context, grid slots.Grid) bool {
	now := time.Now()
	timer := time.NewTimer(grid.Next(now).Sub(now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func sayRan(cmd *cobra.Command, prog *program.Program, r files.Ran) error {
	became := r.Outcome
	if r.Next != nil {
		became = "again at " + output.Stamp(*r.Next)
	}
	text := ""
	if r.Error != "" {
		text = ": " + r.Error
	}
	return output.Answer(cmd.OutOrStdout(), prog.JSON, r, "%s  %s  %s%s", output.Stamp(r.Slot), r.Name, became, text)
}

// explain says of an error which exit code it means.
func explain(err error) error {
	if errors.Is(err, files.ErrLeft) { // all else was executed
		return err
	}
	if errors.Is(err, prescient.ErrInvalid) || errors.Is(err, files.ErrUnsafe) || errors.Is(err, prescient.ErrBeyondHorizon) {
		return exit.Usage(err)
	}
	return err
}
