// Package taking takes what stands in a file, all of it or nothing, and says what it changes.
package taking

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

// Taking is a file that is being taken, in a transaction.
type Taking struct {
	*program.Session
	// Update has those changed that are there with another definition, and DryRun has nothing done.
	Update, DryRun bool
	// Hint says which command changes what is there.
	Hint string
	// Done is what was done with each entry.
	Done []Change
}

// Change is what was done with an entry.
type Change struct {
	definition.Done
	// Lines are those that changed, of one that was.
	Lines []string `json:"lines,omitempty"`
	// Jobs have a shared step that changed.
	Jobs []string `json:"jobs,omitempty"`
}

// errDryRun has what was done rolled back.
var errDryRun = errors.New("a dry run")

// Take takes entries in one transaction.
func (t *Taking) Take(ctx context.Context, take func(tx *sql.Tx) error) error {
	err := t.InTx(ctx, func(tx *sql.Tx) error {
		t.Done = nil
		if err := take(tx); err != nil {
			return err
		}
		if t.DryRun {
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		return nil
	}
	return err
}

// Refused names the line of what keeps an entry from being taken.
func Refused(entry file.Entry, err error) error {
	bad := entry.Refused(err)
	return fmt.Errorf("line %d: %w", bad.Line, bad.Err)
}

// NoteChange notes what changed. It is refused unless changes are wanted.
func (t *Taking) NoteChange(before, after file.Entry, jobs []string) error {
	was, err := before.Text()
	if err != nil {
		return err
	}
	is, err := after.Text()
	if err != nil {
		return err
	}
	return t.Note(after, false, file.Lines(was, is), jobs)
}

// Note notes what was done with an entry: it was created, or these lines changed.
func (t *Taking) Note(entry file.Entry, created bool, lines, jobs []string) error {
	c := Change{definition.Done{Name: entry.String(), Did: "kept"}, lines, jobs}
	switch {
	case created:
		c.Did = "created"
	case lines != nil && !t.Update:
		return &exit.Error{Code: exit.CodePending, Err: fmt.Errorf("the database has %s already, with another definition. Nothing of the file was taken; %s", entry, t.Hint)}
	case lines != nil:
		c.Did = "changed"
	}
	t.Done = append(t.Done, c)
	return nil
}

// Print prints what was done.
func (t *Taking) Print(out io.Writer, asJSON bool) error {
	if asJSON {
		return output.Lines(out, t.Done)
	}
	p := output.To(out)
	counts := make(map[string]int)
	for _, c := range t.Done {
		counts[c.Did]++
		sign := map[string]string{"created": "+", "changed": "~"}[c.Did]
		if sign == "" {
			continue
		}
		p.Say("%s %s", sign, c.Name)
		SayLines(p, "    ", slices.Values(c.Lines))
		for _, job := range c.Jobs {
			p.Say("  of job %s, too", job)
		}
	}
	done := ""
	if t.DryRun {
		done = " (a dry run: nothing was done)"
	}
	p.Say("%d created, %d changed, %d kept%s", counts["created"], counts["changed"], counts["kept"], done)
	return p.Err()
}

// SayLines prints lines, each behind the same beginning.
func SayLines(p *output.Printer, beginning string, lines iter.Seq[string]) {
	for line := range lines {
		p.Say("%s%s", beginning, strings.TrimSuffix(line, "\n"))
	}
}
