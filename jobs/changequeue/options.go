package changequeue

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
)

// Defaults and bounds.
const (
	DefaultBatch      = 1000
	DefaultBatchBytes = 4 << 20
	DefaultGapWait    = 5 * time.Minute

	maxBatch      = 10_000
	maxBatchBytes = 256 << 20
	minGapWait    = time.Millisecond
	maxGapWait    = 24 * time.Hour
	minWatch      = 10 * time.Millisecond
)

// Options say which table is consumed and how. DB, Name and Table are needed.
type Options struct {
	// DB is the pool of connect.Open on which changes are read: the worker's.
	DB *sqlx.DB
	// Name is the job_exec, an identifier. Queues of several names on one table each get all changes.
	Name string
	// Table holds the changes: a name, or database.name. IDColumn is its AUTO_INCREMENT key, id by default, and PayloadColumn what
	// a change says, payload by default. Names have letters, digits, _ and $.
	Table, IDColumn, PayloadColumn string
	// Batch is how many changes are handled, and committed, together: 1000 by default, 10,000 at most. BatchBytes is how many bytes
	// their payloads have together: 4 MiB by default, 256 MiB at most. One that has more comes alone.
	Batch, BatchBytes int
	// GapWait is how long an id that is missing is waited for, by the database's clock: 5 minutes by default, a day at most. It should
	// be more than most transactions take that write changes: a gap that is waited for longer is looked at with locks.
	GapWait time.Duration
	// InOrder has changes be handled in the order of their ids: those behind a gap wait until that is filled, or GapWait is over. By
	// default they don't wait.
	InOrder bool
	// After is where a queue begins that has no checkpoint yet: behind this id; 0 for all there is. A payload {"after": 42} of the
	// check goes before it.
	After uint64
	// Watch is how often the run looks for changes once it has found none; 0 to leave it then, and be called again in the next open slot.
	Watch time.Duration
	// Log is told what was passed over, and what came late. The zero value is silent.
	Log zerolog.Logger
}

var plainName = regexp.MustCompile(`^[0-9A-Za-z_$]{1,64}$`)

// complete fills in what is zero, and returns what is wrong.
func (o *Options) complete() error {
	o.IDColumn, o.PayloadColumn = cmp.Or(o.IDColumn, "id"), cmp.Or(o.PayloadColumn, "payload")
	o.Batch, o.BatchBytes, o.GapWait = cmp.Or(o.Batch, DefaultBatch), cmp.Or(o.BatchBytes, DefaultBatchBytes), cmp.Or(o.GapWait, DefaultGapWait)
	if err := prescient.ValidIdentifier("name of the queue", o.Name); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{prescient.ErrInvalid}, args...)...)
	}
	database, table, two := strings.Cut(o.Table, ".")
	switch {
	case o.DB == nil:
		return refuse("there is no pool: want one of connect.Open")
	case !plainName.MatchString(database) || two && !plainName.MatchString(table):
		return refuse("Table %q: want a name, or database.name, of letters, digits, _ and $", o.Table)
	case !plainName.MatchString(o.IDColumn):
		return refuse("IDColumn %q: want a name of letters, digits, _ and $", o.IDColumn)
	case !plainName.MatchString(o.PayloadColumn):
		return refuse("PayloadColumn %q: want a name of letters, digits, _ and $", o.PayloadColumn)
	case o.Batch < 1 || o.Batch > maxBatch:
		return refuse("Batch %d: 1 to %d are allowed (0 for %d)", o.Batch, maxBatch, DefaultBatch)
	case o.BatchBytes < 1 || o.BatchBytes > maxBatchBytes:
		return refuse("BatchBytes %d: 1 to %d are allowed (0 for %d)", o.BatchBytes, maxBatchBytes, DefaultBatchBytes)
	case o.GapWait < minGapWait || o.GapWait > maxGapWait:
		return refuse("GapWait %s: %s to %s are allowed (0 for %s)", o.GapWait, minGapWait, maxGapWait, DefaultGapWait)
	case o.Watch != 0 && o.Watch < minWatch:
		return refuse("Watch %s: must be at least %s (0 to leave when there is nothing)", o.Watch, minWatch)
	}
	return nil
}

// quoted is the name of a table or column as it stands in a statement.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, ".", "`.`") + "`" }
