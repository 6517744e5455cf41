package cmd

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/prescient"
)

// insertFileFlags are the flags of insert that make it read a file.
type insertFileFlags struct {
	file, format string
	keepGoing    bool
}

const insertFileHelp = `

With --file, checks are read from a file in bulk: JSON lines, an object a line, or CSV, whose first line names the
columns. They are entity (or entity_name and entity_key), job_exec, tag, due_at (or in), spread, payload and on_pending.
What a line leaves out the flags say. All of it is inserted in one transaction, or nothing: every bad line is reported
with its number. With --keep-going bad lines are left out, the others are inserted in chunks, a transaction each, and the
exit code is 7 if any was left out.`

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

func (l *loaded) count(did []prescient.Inserted) {
	for _, d := range did {
		switch d.Did {
		case prescient.DidInsert:
			l.Inserted++
		case prescient.DidKeep:
			l.Kept++
		default:
			l.Replaced++
		}
	}
}

// chunkRows and chunkBytes bound what is in memory, and what is inserted at a time.
const (
	chunkRows  = 1000
	chunkBytes = 4 << 20
)

// fileInsert is one insert --file under way.
type fileInsert struct {
	*session
	insertFileFlags
	defaults insertFlags
	input    *os.File
	name     string // of the file, for messages
	complain func(line int, err error) error
	now      time.Time
	loaded
}

// check refuses flags that do not go together.
func (f *insertFileFlags) check(given insertFlags) error {
	switch {
	case f.file == "" && (f.format != "" || f.keepGoing):
		return usage(errors.New("--format and --keep-going are for --file"))
	case given.entity != "" || given.payload != "":
		return usage(errors.New("--file excludes --entity and --payload, which stand in its lines"))
	case f.format != "" && f.format != formatCSV && f.format != formatJSONL:
		return usage(fmt.Errorf("--format %.40q: jsonl and csv are allowed", f.format))
	}
	if given.when != (when{}) {
		if err := given.when.check(); err != nil {
			return err
		}
	}
	if _, err := parseSpread(given.spread); err != nil {
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
		return formatCSV
	}
	return formatJSONL
}

func (a *app) insertFile(cmd *cobra.Command, given insertFlags, f insertFileFlags) error {
	if err := f.check(given); err != nil {
		return err
	}
	input, remove, err := rereadable(f.file, cmd.InOrStdin())
	if err != nil {
		return usage(fmt.Errorf("--file: %w", err))
	}
	defer remove()
	b := &fileInsert{insertFileFlags: f, defaults: given, input: input, name: f.file, now: epoch}
	if f.file == "-" {
		b.name = "stdin"
	}
	b.complain = func(line int, err error) error {
		b.Bad++
		return say(cmd.ErrOrStderr(), "%s: %s:%d: %s", a.options.Program, b.name, line, err)
	}
	// The first look finds what is wrong with the file itself, before the database is asked.
	total, err := b.lookThrough()
	if err != nil {
		return err
	}
	if b.Bad > 0 && !f.keepGoing {
		return b.refused(total)
	}
	s, err := a.connectWithExecs(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	b.session = s
	if b.now, err = s.now(cmd.Context()); err != nil {
		return err
	}
	if err := b.insert(cmd.Context()); err != nil {
		return s.explain(err)
	}
	if b.Bad > 0 && !f.keepGoing {
		return b.refused(total)
	}
	if a.json {
		err = printJSON(cmd.OutOrStdout(), b.loaded)
	} else {
		err = say(cmd.OutOrStdout(), "inserted %d, replaced %d, kept %d that were pending", b.Inserted, b.Replaced, b.Kept)
	}
	if err == nil && b.Bad > 0 {
		err = &coded{code: ExitPartly, err: fmt.Errorf("%d of %d lines are bad and were left out", b.Bad, total)}
	}
	return err
}

func (b *fileInsert) refused(total int) error {
	return usage(fmt.Errorf("%d of %d lines are bad; nothing was inserted (--keep-going leaves out the bad ones)", b.Bad, total))
}

// rereadable opens a file that is to be read twice. What can be read only once is copied to a temporary file.
func rereadable(name string, stdin io.Reader) (file *os.File, remove func(), err error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		remove = func() { _ = file.Close() }
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return file, remove, nil
		}
		defer remove()
		from = file
	}
	if file, err = os.CreateTemp("", "prescient-insert-*"); err != nil {
		return nil, nil, err
	}
	remove = func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}
	if _, err := io.Copy(file, from); err != nil {
		remove()
		return nil, nil, err
	}
	return file, remove, nil
}

// each calls do for every record, from the first on.
func (b *fileInsert) each(do func(line int, r record, err error) error) error {
	if _, err := b.input.Seek(0, io.SeekStart); err != nil {
		return err
	}
	list, err := newRecords(b.input, b.formatOf())
	if err != nil {
		return usage(fmt.Errorf("%s: %w", b.name, err))
	}
	for {
		line, r, err := list.next()
		var broken *readError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &broken):
			return usage(fmt.Errorf("%s: %w", b.name, err))
		}
		if err := do(line, r, err); err != nil {
			return err
		}
	}
}

// lookThrough complains of every line that cannot be a check, and counts all.
func (b *fileInsert) lookThrough() (total int, err error) {
	err = b.each(func(line int, r record, err error) error {
		total++
		if err == nil {
			_, err = r.job(b.defaults, b.now)
		}
		if err != nil {
			return b.complain(line, err)
		}
		return nil
	})
	return total, err
}

// insert inserts the good lines: all in one transaction, which is rolled back if any turns out to be bad, or in chunks.
func (b *fileInsert) insert(ctx context.Context) error {
	if b.keepGoing {
		return b.chunks(ctx, b.db)
	}
	tx, err := b.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	if err := b.chunks(ctx, tx); err != nil || b.Bad > 0 {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// chunks inserts the good lines chunk by chunk.
func (b *fileInsert) chunks(ctx context.Context, db prescient.DB) error {
	var jobs []prescient.NewJob
	var lines []int
	bytes := 0
	flush := func() error {
		if len(jobs) == 0 {
			return nil
		}
		err := b.insertChunk(ctx, db, jobs, lines)
		if err != nil && b.keepGoing {
			err = fmt.Errorf("lines from %d on are not inserted: %w", lines[0], err)
		}
		jobs, lines, bytes = jobs[:0], lines[:0], 0
		return err
	}
	err := b.each(func(line int, r record, err error) error {
		if err != nil {
			return nil // complained of already
		}
		job, err := r.job(b.defaults, b.now)
		if err != nil {
			return nil // the same
		}
		jobs, lines = append(jobs, job), append(lines, line)
		if bytes += len(job.Payload); len(jobs) >= chunkRows || bytes >= chunkBytes {
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
func (b *fileInsert) insertChunk(ctx context.Context, db prescient.DB, jobs []prescient.NewJob, lines []int) error {
	did, err := b.client.InsertMany(ctx, db, jobs)
	if err == nil {
		b.count(did)
		return nil
	}
	if !refusal(err) {
		return err
	}
	for i := range jobs {
		did, err := b.client.InsertMany(ctx, db, jobs[i:i+1])
		switch {
		case err == nil:
			b.count(did)
		case refusal(err):
			why := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "jobs 1 to 1: "), "job 1: ")
			if err := b.complain(lines[i], errors.New(why)); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

// refusal says whether an error means that a check itself is refused.
func refusal(err error) bool {
	return errors.Is(err, prescient.ErrInvalid) || errors.Is(err, prescient.ErrBeyondHorizon) ||
		errors.Is(err, prescient.ErrPending) || errors.Is(err, prescient.ErrKeyCollision)
}
