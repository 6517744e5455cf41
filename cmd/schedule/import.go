package schedule

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/input"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
)

// importFlags are the flags of import.
type importFlags struct {
	format                        string
	owner                         prescient.Entity
	update, deleteMissing, dryRun bool
}

// imported is the last line of import --json.
type imported struct {
	Created int  `json:"created"`
	Changed int  `json:"changed"`
	Deleted int  `json:"deleted"`
	Kept    int  `json:"kept"`
	DryRun  bool `json:"dry_run"`
}

const (
	// mostNamed is how many bad schedules are named.
	mostNamed = 100
	// largestFile is how much is read of a file, all of which is in memory.
	largestFile = 1 << 30
)

func importCommand(prog *program.Program) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Create and change schedules as a file says",
		Long: `Reads schedules from a file, or with - from stdin: YAML (a list, or one a document), or JSON lines. Their names are id,
crontab (a text or a list), zone, exec or topic, payload (payload_base64 where it is not UTF-8), owner (name/key), catch_up,
catch_up_within, expires_after, jitter, coalesce, heartbeat, enabled, and for long runs long, overlap, tolerance, quota and pool. One with
enabled: false is paused; true says nothing. Jobs, shared steps and rules may stand in the same YAML: they are checked, too, and
left to job import and rule import.

All of it is done in one transaction, or nothing: each bad schedule is named with its line. One that is there with the same
definition stays as it is; with another one that is refused, unless --update is given, which changes it. On MariaDB the
timers of other schedules may have to wait for such a transaction: part a file of tens of thousands.

--owner keeps to one owner: who is not named in the file gets it, and another is refused. With --delete-missing, what the
owner has and the file has not is deleted, and the owner's own are changed, too. The difference is printed before it is
made: + created, ~ changed, - deleted. --dry-run prints it and does nothing.`,
		Example: fmt.Sprintf(`  %[1]s schedule import schedules.yaml
  %[1]s schedule import schedules.yaml --owner customer/42 --delete-missing --dry-run
  zcat schedules.jsonl.gz | %[1]s schedule import - --update`, prog.Name),
		Args: arguments.File,
		RunE: func(cmd *cobra.Command, args []string) error { return importFile(cmd, prog, f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "of the file: yaml or jsonl (default by its extension, else by how it begins)")
	addOwner(flags, &f.owner, "whose schedules they are: name/key, as in customer/42")
	flags.BoolVar(&f.update, "update", false, "change those that are there with another definition")
	flags.BoolVar(&f.deleteMissing, "delete-missing", false, "delete what --owner has and the file has not")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only print what would be done")
	return cmd
}

// fileImport is one import under way.
type fileImport struct {
	importFlags
	cmd  *cobra.Command
	prog *program.Program
	s    *program.Session
	name string // of the file, for messages

	entries    []file.Entry
	total, bad int
	counts     file.Counts
}

func importFile(cmd *cobra.Command, prog *program.Program, f importFlags, name string) error {
	i := &fileImport{importFlags: f, cmd: cmd, prog: prog, name: input.Called(name), counts: make(file.Counts)}
	err := arguments.NotEmpty(cmd, "owner", "format")
	if err == nil && f.deleteMissing && f.owner == (prescient.Entity{}) {
		err = exit.Usage(errors.New("--delete-missing: give --owner too; of others nothing is deleted"))
	}
	if err == nil {
		err = i.read(name)
	}
	if err != nil {
		return err
	}
	err = prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		i.s = s
		return s.Explain(i.run(cmd.Context()))
	})
	if i.s == nil && i.bad > 0 && cmd.Context().Err() == nil {
		err = errors.Join(i.refused(), err)
	}
	return err
}

// read reads the file, and names what is wrong with it.
func (i *fileImport) read(name string) error {
	from, err := input.From(i.cmd.Context(), name, i.cmd.InOrStdin())
	if err != nil {
		return exit.NotRead("import", err)
	}
	defer from.Close()
	limited := &io.LimitedReader{R: from, N: largestFile + 1}
	buffered := bufio.NewReaderSize(limited, 64<<10)
	format := file.Guess(name, buffered)
	if i.format != "" {
		var err error
		if format, err = file.ParseFormat(i.format); err != nil {
			return exit.Usage(fmt.Errorf("--%w", err))
		}
	}
	for entry, err := range file.Read(buffered, format, file.Schedule) {
		var bad *file.Bad
		switch {
		case errors.As(err, &bad):
			i.count(bad.Kind)
			if err := i.complain(bad.Line, bad); err != nil {
				return err
			}
			continue
		case i.cmd.Context().Err() != nil:
			return i.cmd.Context().Err()
		case limited.N <= 0:
			return exit.Usage(fmt.Errorf("%s is larger than %d bytes: part it; nothing was imported", i.name, largestFile))
		case err != nil:
			return exit.Usage(fmt.Errorf("%s: %w; nothing was imported", i.name, err))
		}
		if i.count(entry.Kind()); entry.Schedule == nil {
			continue
		}
		if err := i.take(entry); err != nil {
			return err
		}
	}
	if i.total == i.others() && i.deleteMissing {
		return exit.Usage(fmt.Errorf("%s has no schedules: delete --owner deletes all that an owner has; nothing was done", i.name))
	}
	return nil
}

// count counts an entry of the file.
func (i *fileImport) count(kind file.Kind) {
	i.total++
	i.counts[kind]++
}

// others are the entries of other kinds.
func (i *fileImport) others() int {
	return i.counts[file.Job] + i.counts[file.Step] + i.counts[file.Rule]
}

// take takes a schedule of the file, for the owner that is asked for.
func (i *fileImport) take(entry file.Entry) error {
	switch none := (prescient.Entity{}); {
	case i.owner != none && entry.Schedule.Owner == none:
		entry.Schedule.Owner = i.owner
	case i.owner != none && entry.Schedule.Owner != i.owner:
		return i.complain(entry.Line, fmt.Errorf("schedule %q: its owner is %s; with --owner %s no other is allowed", entry.Schedule.ID, entry.Schedule.Owner, i.owner))
	}
	i.entries = append(i.entries, entry)
	return nil
}

// complain names a bad schedule, unless many were named.
func (i *fileImport) complain(line int, err error) error {
	if i.bad++; i.bad > mostNamed {
		return nil
	}
	return output.Say(i.cmd.ErrOrStderr(), "%s: %s:%d: %s", i.prog.Name, i.name, line, words.Clip(words.Of(err), words.LongestComplaint))
}

// refused is the end of an import of which something is bad.
func (i *fileImport) refused() error {
	more := ""
	if i.bad > mostNamed {
		more = fmt.Sprintf(", of which %d are named", mostNamed)
	}
	return exit.Usage(fmt.Errorf("%d of %d %s are bad%s; nothing was imported", i.bad, i.total, i.counts.Named(file.Schedule), more))
}

// run finds out what is to be done, prints it, and does it, in one transaction.
func (i *fileImport) run(ctx context.Context) error {
	tx, err := i.s.Begin(ctx)
	if err != nil {
		return err
	}
	p, err := i.plan(ctx, tx)
	if err == nil && (i.deleteMissing || i.dryRun || i.update) {
		err = p.print(i.cmd.OutOrStdout(), i.prog.JSON)
	}
	if err == nil && !i.dryRun {
		err = i.do(ctx, tx, p)
	}
	if err != nil || i.dryRun {
		i.s.Undo(tx)
	}
	var known *exit.Error
	switch {
	case errors.As(err, &known):
		return err
	case err != nil && ctx.Err() != nil: // what else is said follows from that
		return fmt.Errorf("nothing was imported: %w", ctx.Err())
	case err != nil:
		return fmt.Errorf("nothing was imported: %w", err)
	case !i.dryRun:
		if err := program.Commit(ctx, tx, "nothing was imported", "whether the schedules were imported is not known; import them again"); err != nil {
			return err
		}
	}
	err = i.report(p)
	for _, line := range i.counts.Left(file.Schedule) {
		err = errors.Join(err, output.Say(i.cmd.ErrOrStderr(), "%s: %s", i.prog.Name, line))
	}
	if err != nil || i.dryRun {
		return err
	}
	execs := make([]string, 0, len(p.created)+len(p.changed))
	for _, d := range append(p.created, p.changed...) {
		execs = append(execs, d.entry.Schedule.JobExec)
	}
	return warn(i.cmd, i.s, execs...)
}

func (i *fileImport) report(p *plan) error {
	did := imported{len(p.created), len(p.changed), len(p.deleted), p.kept, i.dryRun}
	would := ""
	if i.dryRun {
		would = "would have "
	}
	return output.Answer(i.cmd.OutOrStdout(), i.prog.JSON, did, "%screated %d, changed %d, deleted %d; %d stay as they are", would, did.Created, did.Changed, did.Deleted, did.Kept)
}
