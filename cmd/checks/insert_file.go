package checks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/input"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/client"
)

// insertFileFlags are the flags of insert that make it read a file.
type insertFileFlags struct {
	file, format string
	keepGoing    bool
}

var insertFileHelp = fmt.Sprintf(`

With --file, checks are read from a file in bulk: JSON lines, an object a line, or CSV, whose first line names the
columns. They are entity (or entity_name and entity_key), job_exec, tag, due_at (or in), spread, expires, payload and
on_pending. What a line leaves out the flags say. All of it is inserted in one transaction, or nothing: every bad line is reported
with its number. With --keep-going bad lines are left out, the others are inserted in chunks, a transaction each, and the
exit code is %d if any was left out. Interrupted it ends at once: without --keep-going nothing is inserted then, with it
what it says.`, exit.CodePartly)

func (f *insertFileFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "file", "", "insert the checks of a file; - for stdin")
	cmd.Flags().StringVar(&f.format, "format", "", "of the file: jsonl or csv (default by its extension, else jsonl)")
	cmd.Flags().BoolVar(&f.keepGoing, "keep-going", false, "insert the good lines of the file, and leave out the bad ones")
}

// loaded is what insert --file prints.
type loaded struct {
	Inserted int `json:"inserted"`
	Kept     int `json:"kept"`
	Replaced int `json:"replaced"`
	Bad      int `json:"bad"`
}

func (l *loaded) count(did []client.Inserted) {
	for _, d := range did {
		switch d.Did {
		case client.DidInsert:
			l.Inserted++
		case client.DidKeep:
			l.Kept++
		default:
			l.Replaced++
		}
	}
}

// String is for people.
func (l *loaded) String() string {
	return fmt.Sprintf("inserted %d, replaced %d, kept %d", l.Inserted, l.Replaced, l.Kept)
}

// chunkRows and chunkBytes bound what is in memory, and what is inserted at a time. chunkGrace is what a chunk has to end
// once the command is told to stop.
const (
	chunkRows  = 1000
	chunkBytes = 4 << 20
	chunkGrace = 2 * time.Second
)

// fileInsert is one insert --file under way.
type fileInsert struct {
	session *program.Session
	insertFileFlags
	defaults insertFlags
	input    *os.File
	name     string // of the file, for messages
	complain func(line int, err error) error
	now      time.Time
	total    int  // lines with something on them
	next     int  // the line that is to be inserted next
	underway bool // a chunk was sent that has not come to its end
	execs    program.ExecNames
	loaded
}

// check refuses flags that do not go together.
func (f *insertFileFlags) check(given insertFlags) error {
	switch {
	case f.file == "" && (f.format != "" || f.keepGoing):
		return exit.Usage(errors.New("--format and --keep-going are for --file"))
	case given.entity != "" || given.payload != "":
		return exit.Usage(errors.New("--file excludes --entity and --payload, which stand in its lines"))
	case given.warn:
		return exit.Usage(errors.New("--file excludes --warn"))
	case f.format != "" && f.format != FormatCSV && f.format != FormatJSONL:
		return exit.Usage(fmt.Errorf("--format %.40q: jsonl and csv are allowed", f.format))
	}
	if given.when != (arguments.When{}) {
		if err := given.when.Check(); err != nil {
			return err
		}
	}
	if _, err := parseSpread(given.spread); err != nil {
		return err
	}
	if _, err := parseExpires(given.expires); err != nil {
		return err
	}
	if _, err := prescient.ParseOnPending(given.onPending); err != nil {
		return fmt.Errorf("--on-pending: %w", err)
	}
	return nil
}

func (f *insertFileFlags) formatOf() string {
	switch {
	case f.format != "":
		return f.format
	case strings.EqualFold(filepath.Ext(f.file), ".csv"):
		return FormatCSV
	}
	return FormatJSONL
}

func insertFile(cmd *cobra.Command, prog *program.Program, given insertFlags, f insertFileFlags) error {
	if err := f.check(given); err != nil {
		return err
	}
	lines, closing, err := rereadable(cmd.Context(), f.file, cmd.InOrStdin())
	if err != nil {
		return exit.NotRead("--file", err)
	}
	defer closing()
	b := &fileInsert{insertFileFlags: f, defaults: given, input: lines, name: input.Called(f.file)}
	b.complain = func(line int, err error) error {
		b.Bad++
		return output.Say(cmd.ErrOrStderr(), "%s: %s:%d: %s", prog.Name, b.name, line, err)
	}
	// The first reading finds what is wrong with the file itself, before anything is inserted.
	if err := b.readThrough(cmd.Context()); err != nil {
		return err
	}
	err = prog.ConnectWithExecs(cmd, func(s *program.Session) (err error) {
		if b.now, err = s.Now(cmd.Context()); err != nil {
			return err
		}
		b.session = s
		if err := b.insert(cmd.Context()); err != nil {
			return s.Explain(err)
		}
		return b.report(cmd)
	})
	if b.session == nil {
		return b.withoutDatabase(cmd.Context(), err)
	}
	return err
}

// report prints what was inserted.
func (b *fileInsert) report(cmd *cobra.Command) (err error) {
	if b.Bad > 0 && !b.keepGoing {
		return b.refused()
	}
	err = output.Answer(cmd.OutOrStdout(), b.session.Program.JSON, b.loaded, "%s that were pending", b.loaded.String())
	err = errors.Join(err, b.session.WarnUnregistered(cmd.Context(), cmd.ErrOrStderr(), putOff, b.execs...))
	if err == nil && b.Bad > 0 {
		err = &exit.Error{Code: exit.CodePartly, Err: errors.New(b.sayBad("is bad and was left out", "are bad and were left out"))}
	}
	return err
}

// withoutDatabase names the lines that are bad whatever the database would say of the others.
func (b *fileInsert) withoutDatabase(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return why
	}
	b.now = time.Now()
	err := b.each(ctx, func(e entry) error {
		if e.bad != nil {
			return b.complain(e.line, e.bad)
		}
		return nil
	})
	if err == nil && b.Bad > 0 && !b.keepGoing {
		err = b.refused()
	}
	return errors.Join(err, why)
}

// sayBad says how many lines are bad.
func (b *fileInsert) sayBad(one, more string) string {
	of := fmt.Sprintf("of %d lines ", b.total)
	return words.Counted(b.Bad, of+one, of+more)
}

func (b *fileInsert) refused() error {
	return exit.Usage(errors.New(b.sayBad("is bad", "are bad") + "; nothing was inserted (--keep-going leaves out what is bad)"))
}

// entry is a line of the file: a check, or what is wrong with it.
type entry struct {
	line int
	job  prescient.NewJob
	bad  error
}

// records calls do for every record, from the first on.
func (b *fileInsert) records(ctx context.Context, do func(line int, r record, err error) error) error {
	if _, err := b.input.Seek(0, io.SeekStart); err != nil {
		return err
	}
	list, err := newRecords(b.input, b.formatOf())
	if err != nil {
		return exit.Usage(fmt.Errorf("%s: %w", b.name, err))
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, r, err := list.next()
		var broken *readError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &broken):
			return exit.Usage(fmt.Errorf("%s: %w", b.name, err))
		}
		if err := do(line, r, err); err != nil {
			return err
		}
	}
}

// each calls do for every line, from the first on: the one place that says which of them are checks.
func (b *fileInsert) each(ctx context.Context, do func(e entry) error) error {
	return b.records(ctx, func(line int, r record, err error) error {
		e := entry{line: line, bad: err}
		if err == nil {
			e.job, e.bad = r.job(b.defaults, b.now)
		}
		return do(e)
	})
}

// readThrough counts the lines, and finds out whether the file can be read to its end.
func (b *fileInsert) readThrough(ctx context.Context) error {
	return b.records(ctx, func(int, record, error) error {
		b.total++
		return nil
	})
}

// insert inserts the good lines: all in one transaction, which is rolled back if any turns out to be bad, or in chunks.
func (b *fileInsert) insert(ctx context.Context) error {
	if b.keepGoing {
		return b.insertInChunks(ctx)
	}
	tx, err := b.session.Begin(ctx)
	if err != nil {
		return err
	}
	if err := b.chunks(ctx, tx); err != nil || b.Bad > 0 {
		b.session.Undo(tx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil: // what else is said follows from that
			err = ctx.Err()
		}
		return fmt.Errorf("nothing was inserted: %w", err)
	}
	return program.Commit(ctx, tx, "nothing was inserted", "whether the lines were inserted is not known: see pending")
}

// insertInChunks commits chunk by chunk, and says how far it came where it does not come to the end.
func (b *fileInsert) insertInChunks(ctx context.Context) error {
	err := b.chunks(ctx, b.session.DB)
	if err == nil {
		return nil
	}
	rest := fmt.Sprintf("whether the next ones were inserted is not known. Insert again from line %d on, with --on-pending keep; see history for what may have run by now", b.next)
	if program.Answered(err) || !b.underway {
		rest = "nothing from there on was inserted"
	}
	if ctx.Err() != nil { // what else is said, such as of a lock that was waited for, no longer matters
		err = ctx.Err()
	}
	return fmt.Errorf("%s before line %d; %s. It failed: %w", b.loaded.String(), b.next, rest, err)
}

// chunks inserts the good lines chunk by chunk.
func (b *fileInsert) chunks(ctx context.Context, db prescient.DB) error {
	var chunk []entry
	bytes := 0
	flush := func() error {
		err := b.insertChunk(ctx, db, chunk)
		chunk, bytes = chunk[:0], 0
		return err
	}
	b.next = 1
	err := b.each(ctx, func(e entry) error {
		chunk = append(chunk, e)
		if bytes += len(e.job.Payload); len(chunk) >= chunkRows || bytes >= chunkBytes {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// insertChunk inserts many at once; where that is refused, one by one, to complain of those that are bad.
func (b *fileInsert) insertChunk(ctx context.Context, db prescient.DB, chunk []entry) error {
	if b.keepGoing {
		if err := ctx.Err(); err != nil {
			return err
		}
		// A chunk that has begun may end, so that it is known what was inserted.
		var stop func()
		ctx, stop = outliving(ctx, chunkGrace)
		defer stop()
	}
	b.underway = true
	var jobs []prescient.NewJob
	for _, e := range chunk {
		if e.bad == nil {
			jobs = append(jobs, e.job)
			b.execs.Add(e.job.JobExec)
		}
	}
	did, err := b.session.Client.InsertMany(ctx, db, jobs)
	if err != nil && !refusal(err) {
		return err
	}
	whole := err == nil
	b.loaded.count(did)
	for _, e := range chunk {
		if e.bad == nil && !whole {
			did, err := b.session.Client.InsertMany(ctx, db, []prescient.NewJob{e.job})
			switch {
			case err == nil:
				b.loaded.count(did)
			case refusal(err):
				e.bad = errors.New(strings.TrimPrefix(err.Error(), "check 1: "))
			default:
				return err
			}
		}
		b.next = e.line + 1
		if e.bad != nil {
			if err := b.complain(e.line, e.bad); err != nil {
				return err
			}
		}
	}
	b.underway = false
	return nil
}

// refusal says whether an error means that a check itself is refused.
func refusal(err error) bool {
	return errors.Is(err, prescient.ErrInvalid) || errors.Is(err, prescient.ErrBeyondHorizon) ||
		errors.Is(err, prescient.ErrPending) || errors.Is(err, prescient.ErrKeyCollision)
}
